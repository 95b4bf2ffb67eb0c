// GPUDirect RDMA turned off by hand.

#include <fmt/format.h>

#include "environment.hpp"
#include "found.hpp"

namespace trainyard::lint::nccl_gdr {

namespace {

bool turns_off(const EnvVar& v) {
    const std::string_view text = v.value.text;
    if (v.name == "FI_EFA_USE_DEVICE_RDMA") return is_off(text);
    if (v.name == "NCCL_NET_GDR_LEVEL") return is_one_of(text, {"0", "LOC"});
    return v.name == "NCCL_IB_CUDA_SUPPORT" && is_off(text);
}

/// G-family GPUs have none: there the switch is harmless.
bool has_gdr(const Case& c, const Job* job, const Training* t) {
    const std::vector<Said> types = job != nullptr ? c.types_of(*job) : std::vector<Said>{t->type};
    for (const Said& type : types) {
        const std::string_view name =
            std::string_view(type.text).substr(type.text.starts_with("ml.") ? 3 : 0);
        if (name.starts_with('g') || name.starts_with("p3")) return false;
    }
    return true;
}

void find(const Case& c, Found& found) {
    each_variable(c, [&](const EnvVar& v, const Job* job, const Training* t) {
        if (!turns_off(v) || !has_gdr(c, job, t)) return;
        found.at(name_of(v), fmt::format("{}={} turns GPUDirect RDMA off", v.name, v.value.text));
    });
}

}  // namespace

Rule rule() {
    return {.id = "NCCL-GDR-ENV",
            .severity = Severity::warning,
            .title = "GPUDirect RDMA is turned off in the environment",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "every byte between nodes is copied through host memory, which costs bandwidth and "
                "cores on P4, P5 and P6",
            .fix = "remove it: libfabric 1.18 and aws-ofi-nccl 1.7 choose by themselves",
            .source =
                "awslabs/awsome-distributed-ai efa-cheatsheet; NVIDIA NCCL documentation, "
                "environment variables",
            .find = find};
}

}  // namespace trainyard::lint::nccl_gdr

// MIG slices under NCCL.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::gpu_mig_nccl {

namespace {

/// A job of several processes.
const Job* distributed(const Case& c) {
    for (const Job& job : c.jobs) {
        const bool many = job.is_multi_node() || (job.gpus && job.gpus->value > 1);
        if (many && job.is_training) return &job;
    }
    return nullptr;
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        const Said layout = said(get(get(job.spec, "nodeSelector"), "nvidia.com/mig.config"));
        const bool is_many = job.is_multi_node() || (job.gpus && job.gpus->value > 1);
        if (layout && !layout.is("all-disabled") && job.is_training && is_many) {
            found.at(layout, fmt::format("distributed training on GPUs cut into {}", layout.text));
        }
        if (job.resources == nullptr) continue;
        for (const auto& [name, value] : job.resources->members()) {
            const auto n = count(&value);
            if (!name.starts_with("nvidia.com/mig-") || !n) continue;
            if (n->value > 1 || (job.is_multi_node() && job.is_training)) {
                found.at(key_said(value, name), "distributed training on MIG slices");
            }
        }
    }
    const Job* job = distributed(c);
    if (job == nullptr) return;
    for (const Document* d : c.of_kind(Kind::helm_values)) {
        const Said layout = said(&d->root, {"migManager", "config", "default"});
        const bool is_on = layout && !layout.text.empty() && layout.text != "all-disabled";
        if (!is_on) continue;
        found
            .at(layout, fmt::format("the GPUs are cut into {}, but {} {} trains over NCCL",
                                    layout.text, job->object_kind, job->name))
            .related.push_back({job->where, "the job"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "GPU-MIG-NCCL",
            .severity = Severity::error,
            .title = "MIG slices used for distributed training",
            .applies =
                "Helm values of the GPU Operator beside jobs; pods that ask for MIG "
                "devices",
            .why =
                "slices have no NVLink and no peer access among each other: NCCL "
                "refuses them or crawls through the network card",
            .fix =
                "give distributed training whole GPUs: migManager config all-disabled, "
                "mig.strategy none",
            .source = "NVIDIA/nccl#1716; NVIDIA MIG user guide",
            .find = find};
}

}  // namespace trainyard::lint::gpu_mig_nccl

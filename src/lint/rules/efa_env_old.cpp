// Settings of old EFA software.

#include <fmt/format.h>

#include "environment.hpp"
#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::efa_env_old {

namespace {

struct Old {
    std::string_view name, why;
    Severity severity;
};
constexpr Old kOld[] = {
    {"RDMAV_FORK_SAFE", "it must not be used with EFA: registrations become very slow",
     Severity::warning},
    {"FI_EFA_FORK_SAFE", "not needed on kernel 5.15 and later", Severity::note},
    {"FI_EFA_USE_DEVICE_RDMA", "chosen by the library; forced on a type without it, it fails",
     Severity::note},
    {"FI_OFI_RXR_RX_COPY_UNEXP", "gone from libfabric", Severity::note},
    {"NCCL_TREE_THRESHOLD", "gone from NCCL", Severity::note},
};

void judge(const Case& c, const EnvVar& v, const std::vector<Said>& types, Found& found) {
    for (const Old& o : kOld) {
        if (v.name != o.name) continue;
        // Off is NCCL-GDR-ENV's finding.
        if (v.name == "FI_EFA_USE_DEVICE_RDMA" && is_off(v.value.text)) continue;
        Finding& f =
            found.at(Said{v.name, v.value.where}, v.name + " is set: " + std::string(o.why));
        f.severity = o.severity;
        const catalog::Instance* i = facts::only(c, types);
        const bool is_forced = v.name == "FI_EFA_USE_DEVICE_RDMA" && v.value.is("1");
        if (is_forced && i != nullptr && i->rdma_read == catalog::Yes::no) {
            f.severity = Severity::error;
            f.what = fmt::format("{}=1 on {}, which has no RDMA", v.name, i->type);
        }
    }
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        for (const EnvVar& v : job.env) judge(c, v, c.types_of(job), found);
    }
    for (const Training& t : c.trainings) {
        for (const EnvVar& v : t.env) judge(c, v, {t.type}, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-ENV-OLD",
            .severity = Severity::warning,
            .title = "An EFA variable that current software does not want",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "it forces a path that newer libfabric chooses better by itself, or "
                "breaks it",
            .fix = "remove it",
            .source = "awslabs/awsome-distributed-ai 1.architectures/efa-cheatsheet.md",
            .holds_for = "libfabric 1.18 and aws-ofi-nccl 1.7 and later",
            .find = find};
}

}  // namespace trainyard::lint::efa_env_old

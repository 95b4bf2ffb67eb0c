// Debug switches of NCCL left on.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::nccl_stale_env {

namespace {

struct Switch {
    std::string_view name;
    std::string_view off;  ///< what it turns off
    bool needs_nvlink;     ///< without NVLink it may be a workaround
};
constexpr Switch kSwitches[] = {{"NCCL_P2P_DISABLE", "NVLink between the GPUs of a node", true},
                                {"NCCL_SHM_DISABLE", "shared memory between processes", true},
                                {"NCCL_NVLS_ENABLE", "", true},
                                {"NCCL_NET", "", false},
                                {"NCCL_NET_PLUGIN", "", false}};

void judge(const Case& c, const EnvVar& v, const std::vector<Said>& types, Found& found) {
    const Said type = facts::accelerated(c, types);
    const catalog::Instance* i = type ? c.instance(type.text) : nullptr;
    const bool has_nvlink = i != nullptr && i->intra_link != catalog::LinkKind::pcie &&
                            i->intra_link != catalog::LinkKind::none;
    for (const Switch& s : kSwitches) {
        if (v.name != s.name) continue;
        const Said place{v.name, v.value.where};
        if (v.name == "NCCL_NET_PLUGIN") {
            if (!is_one_of(v.value.text, {"none", "None", "NONE"})) continue;
            found.at(place, "NCCL_NET_PLUGIN=none turns the EFA plugin off: traffic goes over TCP");
        } else if (v.name == "NCCL_NET") {
            if (!contains(v.value.text, "socket")) continue;
            found.at(place, "NCCL_NET=Socket turns EFA off: all traffic goes over TCP");
        } else if (!s.off.empty() && is_one_of(v.value.text, {"1", "2", "true"})) {
            if (i != nullptr && !has_nvlink) continue;
            Finding& f = found.at(place, fmt::format("{}={} turns off {}{}", v.name, v.value.text,
                                                     s.off, i == nullptr ? "" : " on " + i->type));
            if (i == nullptr) f.severity = Severity::warning;
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
    return {.id = "NCCL-STALE-ENV",
            .severity = Severity::error,
            .title =
                "NCCL_P2P_DISABLE, NCCL_SHM_DISABLE or NCCL_NET=Socket left in the "
                "environment",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "they turn off NVLink, shared memory or the fabric: useful to find a "
                "fault, ruinous for speed if they stay",
            .fix = "remove them",
            .source = "NVIDIA NCCL documentation, environment variables; NVIDIA/nccl#1597",
            .find = find};
}

}  // namespace trainyard::lint::nccl_stale_env

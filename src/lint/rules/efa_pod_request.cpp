// A pod that should talk over EFA but does not ask for it.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::efa_pod_request {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::pod || (job.efa && job.efa->value > 0)) continue;
        // A runtime's pods get their devices from the TrainJob.
        if (contains(job.object_kind, "TrainingRuntime") && !job.has_devices()) continue;
        const EnvVar* asks = find_env(job.env, "FI_PROVIDER");
        const bool says_efa = asks != nullptr && asks->value.is("efa");
        const Said type = facts::accelerated(c, c.types_of(job));
        const catalog::Instance* i = type ? c.instance(type.text) : nullptr;
        if (says_efa && (job.has_devices() || i != nullptr)) {
            const int has = i == nullptr ? 0 : i->efa_interfaces;
            Finding& f = found.at(
                Said{"FI_PROVIDER", asks->value.where},
                fmt::format("FI_PROVIDER=efa, but the pod asks for no vpc.amazonaws.com/efa{}",
                            has > 0 ? fmt::format(" ({} has {})", i->type, has) : ""));
            if (has > 0) f.fix = fmt::format("add vpc.amazonaws.com/efa: {} to the limits", has);
            continue;
        }
        const std::int64_t devices = job.gpus      ? job.gpus->value
                                     : job.neurons ? job.neurons->value
                                                   : 0;
        const bool is_whole = i != nullptr && i->efa_interfaces > 0 && devices >= i->accelerators;
        if (!is_whole || !job.is_multi_node() || !job.is_training) continue;
        const Location at = job.gpus ? job.gpus->where : job.where;
        Finding& f =
            found.at(at, fmt::format("{} nodes of {} train together, but the pod asks for no "
                                     "vpc.amazonaws.com/efa: NCCL falls back to TCP",
                                     job.nodes->value, i->type));
        f.fix = fmt::format("add vpc.amazonaws.com/efa: {} to the limits", i->efa_interfaces);
        f.efficiency_lost = lost_over_tcp(c, i->type, job.nodes->value);
        f.waste = price_of(c, i->type, job.nodes->value);
        if (f.waste && f.efficiency_lost) *f.waste *= *f.efficiency_lost;
        if (i->gpudirect_rdma != catalog::Yes::yes && job.gpus) f.severity = Severity::warning;
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-POD-REQUEST",
            .severity = Severity::error,
            .title = "The pod does not ask for vpc.amazonaws.com/efa",
            .applies = "Kubernetes pods",
            .why =
                "without the request no EFA device is put into the container (and "
                "Karpenter does not even attach one to the node): NCCL uses TCP, up to "
                "a hundred times slower, and no error is printed",
            .fix = "ask for vpc.amazonaws.com/efa, as many as the type has",
            .source =
                "skypilot-org/skypilot#10055; awslabs/ai-on-sagemaker-hyperpod#134; EKS"
                " user guide, node-efa",
            .find = find};
}

}  // namespace trainyard::lint::efa_pod_request

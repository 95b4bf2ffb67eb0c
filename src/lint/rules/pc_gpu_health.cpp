// GPU queues whose nodes nobody looks at before a job.

#include <fmt/format.h>

#include <set>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::pc_gpu_health {

namespace {

void find(const Case& c, Found& found) {
    std::set<const doc::Node*> seen;
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::parallelcluster) continue;
        const Said type = facts::accelerated(c, p.types);
        const catalog::Accelerator* a = type ? c.accelerator(type.text) : nullptr;
        if (a == nullptr || a->vendor != "NVIDIA") continue;
        if (is_true(get(p.node, {"HealthChecks", "Gpu", "Enabled"})) ||
            is_true(get(p.outer, {"HealthChecks", "Gpu", "Enabled"}))) {
            continue;
        }
        if (!seen.insert(p.outer).second) continue;
        const Said name = said(p.outer, {"Name"});
        found.at(name ? name : type,
                 fmt::format("queue {} starts jobs on {} without a GPU health check", name.text,
                             type.text));
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-GPU-HEALTH",
            .severity = Severity::note,
            .title = "No GPU health check before a job",
            .applies = "ParallelCluster queues with NVIDIA GPUs",
            .why =
                "a node with a broken GPU takes the job, and all other nodes wait for it; the "
                "check is off by default",
            .fix = "HealthChecks: {Gpu: {Enabled: true}} in the queue",
            .source = "ParallelCluster documentation, SlurmQueues HealthChecks",
            .holds_for = "ParallelCluster 3.6 and later",
            .find = find};
}

}  // namespace trainyard::lint::pc_gpu_health

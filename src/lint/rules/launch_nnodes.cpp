// The launcher waits for another number of nodes than Slurm gives.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::launch_nnodes {

namespace {

void judge(const Launch& l, Found& found) {
    if (!l.nodes || !l.allocated || l.srun.empty() || !l.is_torch()) return;
    const auto step = option_count(*l.document, l.srun, {"nodes", "N"});
    const std::int64_t given = step ? step->value : l.allocated->value;
    if (l.nodes->value == given || l.nodes->value <= 0) return;
    const bool waits = l.nodes->value > given;
    Finding& f =
        found.at(Said{std::to_string(l.nodes->value), l.nodes->where},
                 fmt::format("{} nodes for the launcher, {} from Slurm: {}", l.nodes->value, given,
                             waits ? "it waits for nodes that never come"
                                   : "several groups of nodes that do not know each other"));
    f.fix = "--nnodes=$SLURM_NNODES";
    f.related.push_back({step ? step->where : l.allocated->where, "what Slurm is asked for"});
}

void find(const Case& c, Found& found) {
    for (const Launch& l : launches(c)) judge(l, found);
}

}  // namespace

Rule rule() {
    return {.id = "LAUNCH-NNODES",
            .severity = Severity::error,
            .title = "The launcher's number of nodes is not Slurm's",
            .applies = "sbatch scripts",
            .why =
                "the rendezvous never completes, or it completes too early and the rest of the "
                "nodes fails: all are paid meanwhile",
            .fix = "--nnodes=$SLURM_NNODES",
            .source = "PyTorch documentation, torchrun; Slurm documentation, srun",
            .find = find};
}

}  // namespace trainyard::lint::launch_nnodes

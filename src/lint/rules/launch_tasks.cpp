// srun starts one launcher per GPU, and each launcher one process per GPU.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::launch_tasks {

namespace {

void judge(const Launch& l, Found& found) {
    const bool is_starter = l.is_torch() || l.launcher == "deepspeed";
    if (!is_starter || !l.tasks || l.tasks->value <= 1) return;
    const std::int64_t each = l.processes ? l.processes->value : 0;
    if (each == 1) return;  // one process a task: unusual, but it adds up
    const std::string sum = each > 0 ? fmt::format("{} processes per node", each * l.tasks->value)
                                     : fmt::format("{} launchers per node", l.tasks->value);
    Finding& f = found.at(
        Said{std::to_string(l.tasks->value), l.tasks->where},
        fmt::format("srun starts {} tasks per node and each is a {}{}: {}", l.tasks->value,
                    l.launcher, each > 0 ? fmt::format(" of {} processes", each) : "", sum));
    f.related.push_back({l.at.where, "the launcher"});
}

void find(const Case& c, Found& found) {
    for (const Launch& l : launches(c)) judge(l, found);
}

}  // namespace

Rule rule() {
    return {.id = "LAUNCH-TASKS",
            .severity = Severity::error,
            .title = "Several launchers on a node",
            .applies = "sbatch scripts with torchrun, accelerate or deepspeed below srun",
            .why =
                "the launcher starts one process per GPU itself: the GPUs are used several times "
                "over, memory runs out or NCCL deadlocks on duplicate ranks",
            .fix =
                "--ntasks-per-node=1 with a launcher; or one task per GPU and plain python, with "
                "RANK and LOCAL_RANK from SLURM_PROCID and SLURM_LOCALID",
            .source = "Lightning-AI/pytorch-lightning#217; PyTorch documentation, torchrun",
            .find = find};
}

}  // namespace trainyard::lint::launch_tasks

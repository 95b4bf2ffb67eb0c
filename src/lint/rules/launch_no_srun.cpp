// An sbatch script of several nodes that starts its launcher on the first one only.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::launch_no_srun {

namespace {

bool has_remote(const Document& d) {
    return std::any_of(d.script.commands.begin(), d.script.commands.end(), [](const Command& c) {
        return std::any_of(c.words.begin(), c.words.end(), [](const Said& w) {
            return is_one_of(w.text, {"srun", "ssh", "pdsh", "clush", "mpirun", "mpiexec",
                                      "parallel-ssh"}) ||
                   w.text.ends_with("/srun");
        });
    });
}

void judge(const Launch& l, Found& found) {
    const bool is_one_place = l.is_torch() && l.srun.empty() && l.document->kind == Kind::sbatch;
    if (!is_one_place || !l.allocated || l.allocated->value <= 1) return;
    if (l.job->form != Job::Form::sbatch || has_remote(*l.document)) return;
    found
        .at(l.at, fmt::format("{} is started on the first of {} nodes only: nothing runs on the "
                              "others",
                              l.launcher, l.allocated->value))
        .related.push_back({l.allocated->where, "the nodes"});
}

void find(const Case& c, Found& found) {
    for (const Launch& l : launches(c)) judge(l, found);
}

}  // namespace

Rule rule() {
    return {.id = "LAUNCH-NO-SRUN",
            .severity = Severity::error,
            .title = "The launcher of a job of several nodes is not below srun",
            .applies = "sbatch scripts",
            .why =
                "sbatch runs the script on the first node: the launcher waits there for the others "
                "until its time-out, or trains on one node while all are paid",
            .fix = "srun --ntasks-per-node=1 torchrun …",
            .source = "Slurm documentation, sbatch",
            .find = find};
}

}  // namespace trainyard::lint::launch_no_srun

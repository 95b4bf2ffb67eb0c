// A job on spot nodes that is not queued again.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::slurm_requeue {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::sbatch)) {
        const auto& all = d->script.directives;
        const EnvVar* never = find_env(all, "no-requeue");
        const std::string partition = env_value(all, "partition").text;
        const Pool* spot = facts::spot_queue(c, partition);
        const bool is_spot = spot != nullptr || contains(partition, "spot");
        if (!is_spot) continue;
        const Location where = never != nullptr ? never->value.where : d->head();
        if (never != nullptr) {
            Finding& f = found.at(where,
                                  "--no-requeue on spot nodes: the first interruption ends "
                                  "the job");
            if (spot != nullptr) f.related.push_back({spot->where, "the spot nodes"});
            continue;
        }
        if (find_env(all, "requeue") != nullptr) continue;
        Finding& f = found.at(where, "a job on spot nodes without --requeue");
        f.severity = Severity::note;
        f.why = "whether it is queued again after an interruption depends on JobRequeue";
    }
}

}  // namespace

Rule rule() {
    return {.id = "SLURM-REQUEUE",
            .severity = Severity::warning,
            .title = "A job on spot nodes is not queued again",
            .applies = "sbatch scripts beside a ParallelCluster configuration with spot queues",
            .why =
                "an interrupted node takes the job with it; somebody has to notice and submit it "
                "again, while the others idle or are gone",
            .fix = "#SBATCH --requeue, --signal=B:USR1@120 to save in time, and resume by default",
            .source = "Slurm documentation, sbatch --requeue; EC2 spot interruption notice (120 s)",
            .find = find};
}

}  // namespace trainyard::lint::slurm_requeue

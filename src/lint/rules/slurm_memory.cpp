// Memory-based scheduling below jobs that take whole nodes.

#include "found.hpp"

namespace trainyard::lint::slurm_memory {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        const doc::Node* by_memory =
            get(&d->root, {"Scheduling", "SlurmSettings", "EnableMemoryBasedScheduling"});
        if (!is_true(by_memory)) continue;
        for (const Document* job : c.of_kind(Kind::sbatch)) {
            const EnvVar* exclusive = find_env(job->script.directives, "exclusive");
            const bool has_memory = find_env(job->script.directives, "mem") != nullptr;
            if (exclusive == nullptr || has_memory) continue;
            found
                .at(Said{"--exclusive", exclusive->value.where},
                    "--exclusive without --mem where memory is scheduled")
                .related.push_back({key_of(*by_memory), "EnableMemoryBasedScheduling"});
        }
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "SLURM-MEMORY",
        .severity = Severity::note,
        .title = "--exclusive without --mem on a cluster that schedules by memory",
        .applies = "sbatch scripts beside a ParallelCluster configuration",
        .why =
            "--exclusive gives all cores and GPUs of the node, but only as much memory as the job "
            "asks for",
        .fix = "#SBATCH --mem=0 gives all memory of the node, or leave memory unscheduled",
        .source = "sbatch(1), --exclusive and --mem; ParallelCluster user guide, Slurm memory",
        .find = find};
}

}  // namespace trainyard::lint::slurm_memory

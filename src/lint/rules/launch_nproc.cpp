// Another number of processes than GPUs.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::pod || !job.gpus || job.gpus->value <= 0) continue;
        Said asked = option(job.words, "nproc-per-node");
        if (!asked) asked = said(job.object, {"spec", "nprocPerNode"});
        const auto n = whole_number(asked.text);
        if (!n || *n == job.gpus->value) continue;
        Finding& f = found.at(
            asked, fmt::format("{} processes for each node, but {} GPUs", *n, job.gpus->value));
        f.related.push_back({job.gpus->where, "the GPUs"});
        if (*n < job.gpus->value) f.severity = Severity::warning;
    }
}

}  // namespace

Rule launch_nproc_rule() {
    return {.id = "LAUNCH-NPROC",
            .severity = Severity::error,
            .title = "The number of processes for each node is not the number of its GPUs",
            .applies = "Kubernetes jobs",
            .why =
                "with fewer, GPUs are billed and idle; with more, processes share a GPU"
                " and NCCL fails",
            .fix = "one process for each GPU, or --nproc-per-node=gpu",
            .source = "PyTorch documentation, torchrun",
            .find = find};
}

}  // namespace trainyard::lint

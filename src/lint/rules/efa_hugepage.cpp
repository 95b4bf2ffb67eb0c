// EFA's huge pages and DataLoader workers that fork.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::efa_hugepage {

namespace {

bool has_spawn(const std::vector<Said>& words) {
    return std::any_of(words.begin(), words.end(), [](const Said& w) {
        return w.text == "spawn" || w.text == "forkserver" || w.text.ends_with("=spawn") ||
               w.text.ends_with("=forkserver");
    });
}

Said workers(const std::vector<Said>& words) {
    for (const std::string_view name : {"num-workers", "dataloader-num-workers", "workers",
                                        "mp-start", "data-workers", "n-workers"}) {
        const Said found = option(words, name);
        if (found && !found.is("0")) return found;
    }
    return {};
}

void judge(const EnvVar& v, const Said& fork, bool is_spawned, Found& found) {
    if (v.name != "FI_EFA_USE_HUGE_PAGE" || !is_one_of(v.value.text, {"1", "true", "yes"})) return;
    if (is_spawned) return;
    Finding& f = found.at(Said{v.name, v.value.where},
                          fork ? "FI_EFA_USE_HUGE_PAGE=1 with DataLoader workers that fork"
                               : "FI_EFA_USE_HUGE_PAGE=1: a DataLoader that forks runs out of huge "
                                 "pages");
    if (fork) {
        f.related.push_back({fork.where, "the workers"});
    } else {
        f.severity = Severity::note;
    }
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        for (const EnvVar& v : job.env) judge(v, workers(job.words), has_spawn(job.words), found);
    }
    for (const Training& t : c.trainings) {
        Said fork;
        for (const EnvVar& h : t.hyperparameters) {
            if (contains(h.name, "workers") && !h.value.is("0")) fork = h.value;
        }
        for (const EnvVar& v : t.env) judge(v, fork, false, found);
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "EFA-HUGEPAGE",
        .severity = Severity::warning,
        .title = "EFA's huge pages with DataLoader workers that fork",
        .applies = "every environment: pods, SageMaker, scripts",
        .why =
            "a fork after EFA is up needs its huge pages a second time and there are none left: "
            "os.fork fails with \"cannot allocate memory\", often hours into a run",
        .fix = "FI_EFA_USE_HUGE_PAGE=0, or start workers with multiprocessing_context=\"spawn\"",
        .source = "aws/aws-ofi-nccl#179; awslabs/awsome-distributed-ai efa-cheatsheet",
        .find = find};
}

}  // namespace trainyard::lint::efa_hugepage

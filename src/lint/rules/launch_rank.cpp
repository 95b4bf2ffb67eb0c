// The same node rank on every node.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::launch_rank {

namespace {

/// Ranks are given out by the rendezvous itself.
bool has_dynamic_rendezvous(const Launch& l) {
    const std::string backend = option(l.words, "rdzv-backend").text;
    return is_one_of(backend, {"c10d", "etcd", "etcd-v2"}) || has_option(l.words, "standalone");
}

void judge_early(const Launch& l, const Said& rank, Found& found) {
    for (const std::string_view name : {"SLURM_NODEID", "SLURM_PROCID"}) {
        if (resolved(*l.document, rank.text).find(name) == std::string::npos) continue;
        // NODE_RANK=$SLURM_NODEID in the batch script is 0 wherever it is used.
        const bool is_copied = rank.text.find(name) == std::string::npos;
        const Said& word = l.is_inner ? l.outer : rank;
        if (is_copied ? l.is_inner : !is_expanded_early(*l.document, word, name)) continue;
        Finding& f = found.at(
            rank, fmt::format("${} is expanded by the batch shell, where it is 0, before srun "
                              "starts the tasks: every node becomes rank 0",
                              name));
        f.fix = fmt::format(
            "srun bash -c 'torchrun --node-rank=${} …' in single quotes, or "
            "--rdzv-backend=c10d",
            name);
        return;
    }
}

void judge(const Launch& l, Found& found) {
    if (!l.is_torch() || !l.is_multi_node() || l.srun.empty()) return;
    if (has_dynamic_rendezvous(l)) return;
    Said rank = option(l.words, "node-rank");
    if (!rank) rank = option(l.words, "machine-rank");
    if (!rank) {
        const bool is_set = l.is_open || find_env(l.job->env, "PET_NODE_RANK") != nullptr ||
                            l.launcher == "accelerate";
        if (is_set) return;
        Finding& f = found.at(l.at,
                              "static rendezvous on several nodes without --node-rank: it is "
                              "0 on every node");
        f.fix = "--rdzv-backend=c10d --rdzv-endpoint=$HEAD:29500, which gives out the ranks";
        return;
    }
    if (whole_number(resolved(*l.document, rank.text))) {
        found.at(rank,
                 fmt::format("node rank {} is the same on every node that srun starts this on",
                             resolved(*l.document, rank.text)));
        return;
    }
    judge_early(l, rank, found);
}

void find(const Case& c, Found& found) {
    for (const Launch& l : launches(c)) judge(l, found);
}

}  // namespace

Rule rule() {
    return {.id = "LAUNCH-RANK",
            .severity = Severity::error,
            .title = "Every node gets the same node rank",
            .applies = "srun lines with torchrun, torch.distributed.launch, accelerate",
            .why =
                "all nodes announce themselves as the same one and wait for the others until the "
                "time-out, paid for by the hour",
            .fix =
                "--node-rank=$SLURM_NODEID evaluated inside srun (srun bash -c '…' in single "
                "quotes), or --rdzv-backend=c10d",
            .source = "ai4d-iasc/trixie#52; PyTorch documentation, torchrun",
            .find = find};
}

}  // namespace trainyard::lint::launch_rank

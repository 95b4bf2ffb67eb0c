// Batch sizes of DeepSpeed that do not multiply.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::ds_batch {

namespace {

/// Processes of the one launch of the case.
std::optional<std::int64_t> world(const Case& c) {
    std::optional<std::int64_t> found;
    for (const Launch& l : launches(c)) {
        const auto nodes = l.nodes ? l.nodes : l.allocated;
        if (!l.processes || !nodes) continue;
        const std::int64_t n = l.processes->value * nodes->value;
        if (n <= 0 || n > 1'000'000 || (found && *found != n)) return std::nullopt;
        found = n;
    }
    return found;
}

void judge(const Document& d, std::optional<std::int64_t> ranks, Found& found) {
    const auto batch = count(&d.root, {"train_batch_size"});
    const auto micro = count(&d.root, {"train_micro_batch_size_per_gpu"});
    const auto steps = count(&d.root, {"gradient_accumulation_steps"});
    if (!batch || !micro || micro->value <= 0 || batch->value <= 0) return;
    const std::int64_t each = steps ? steps->value : 1;
    if (each <= 0 || micro->value > 1'000'000 || each > 1'000'000) return;
    const std::int64_t pass = micro->value * each;
    const Said place{std::to_string(batch->value), batch->where};
    if (batch->value % pass != 0) {
        found.at(place, fmt::format("train_batch_size {} is no multiple of micro-batch {} x {} "
                                    "accumulation steps",
                                    batch->value, micro->value, each));
    } else if (ranks && steps && batch->value != pass * *ranks) {
        Finding& f =
            found.at(place, fmt::format("train_batch_size {} is not micro-batch {} x {} "
                                        "accumulation steps x {} processes = {}",
                                        batch->value, micro->value, each, *ranks, pass * *ranks));
        f.fix = fmt::format("train_batch_size: {}", pass * *ranks);
    } else if (ranks && !steps && batch->value % (pass * *ranks) != 0) {
        found.at(place, fmt::format("train_batch_size {} is no multiple of micro-batch {} x {} "
                                    "processes",
                                    batch->value, micro->value, *ranks));
    }
}

void find(const Case& c, Found& found) {
    const auto ranks = world(c);
    for (const Document* d : c.of_kind(Kind::deepspeed)) judge(*d, ranks, found);
}

}  // namespace

Rule rule() {
    return {.id = "DS-BATCH",
            .severity = Severity::error,
            .title = "train_batch_size is not micro-batch x accumulation x processes",
            .applies = "DeepSpeed configurations",
            .why =
                "DeepSpeed stops with an assertion after all nodes have started; on another number "
                "of nodes the same file fails",
            .fix =
                "train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x "
                "GPUs, or leave one of them out",
            .source = "DeepSpeed documentation, configuration JSON; deepspeed/runtime/config.py",
            .find = find};
}

}  // namespace trainyard::lint::ds_batch

// torchtitan saves nothing unless it is told to.

#include <fmt/format.h>

#include "found.hpp"
#include "titan.hpp"

namespace trainyard::lint::tt_checkpoint {

namespace {

constexpr std::int64_t kShort = 1'000;  ///< steps; torchtitan's own examples, for trying out
constexpr std::int64_t kLong = 5'000;   ///< steps that nobody runs to try something out

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::torchtitan)) {
        const auto steps = count(&d->root, {"training", "steps"});
        if (!steps || steps->value <= kShort) continue;
        const doc::Node* checkpoint = get(&d->root, "checkpoint");
        const doc::Node* flag = get(checkpoint, "enable");
        if (flag == nullptr) flag = get(checkpoint, "enable_checkpoint");
        if (is_true(flag)) continue;
        const Said at = flag != nullptr ? key_said(*flag, "enable")
                                        : Said{std::to_string(steps->value), steps->where};
        Finding& f = found.at(at, fmt::format("{} steps, and checkpoints are off{}", steps->value,
                                              flag == nullptr ? ", the default" : ""));
        if (steps->value < kLong) f.severity = Severity::note;
    }
}

}  // namespace

Rule rule() {
    return {.id = "TT-CHECKPOINT",
            .severity = Severity::warning,
            .title = "A long torchtitan run without checkpoints",
            .applies = "torchtitan configurations",
            .why = "a fault, a spot interruption or a time limit loses the whole run",
            .fix =
                "[checkpoint] enable = true (before August 2025: enable_checkpoint) and an "
                "interval",
            .source = "pytorch/torchtitan: docs/checkpoint.md, config/job_config.py",
            .find = find};
}

}  // namespace trainyard::lint::tt_checkpoint

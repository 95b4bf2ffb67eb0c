// Timers of DeepSpeed that synchronise every step.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::ds_breakdown {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        for (const std::string_view key : {"wall_clock_breakdown", "memory_breakdown"}) {
            const doc::Node* value = get(&d->root, key);
            if (!is_true(value)) continue;
            Finding& f = found.at(key_said(*value, key), fmt::format("{} is on", key));
            f.edits.push_back({value->where, value->text(), "false"});
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "DS-BREAKDOWN",
            .severity = Severity::warning,
            .title = "wall_clock_breakdown is left on",
            .applies = "DeepSpeed configurations",
            .why =
                "each phase ends with a device synchronisation: communication and arithmetic no "
                "longer overlap and every step takes longer",
            .fix = "\"wall_clock_breakdown\": false once the measurement is done",
            .source = "DeepSpeed documentation, configuration JSON, logging",
            .find = find};
}

}  // namespace trainyard::lint::ds_breakdown

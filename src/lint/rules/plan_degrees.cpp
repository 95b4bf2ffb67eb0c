// Another mapping than the plan's.

#include <fmt/format.h>

#include "found.hpp"
#include "planned.hpp"
#include "stated.hpp"

namespace trainyard::lint::plan_degrees {

namespace {

void compare(std::string_view name, const std::optional<Count>& stated,
             const std::optional<Count>& planned, Found& found) {
    // torchtitan's -1 is "all that are left".
    if (!stated || !planned || stated->value == planned->value || stated->value < 0) return;
    other_than_planned(found, name, *stated, *planned);
}

/// Megatron's degrees are 1 unless stated.
void absent(std::string_view name, const std::optional<Count>& stated,
            const std::optional<Count>& planned, const StatedTraining& t, Found& found) {
    if (stated || !planned || planned->value == 1) return;
    const Count& at = t.tensor ? *t.tensor : *t.pipeline;
    against_plan(
        found, Said{std::to_string(at.value), at.where}, planned->where,
        fmt::format("no {} is given, so it is 1, but the plan says {}", name, planned->value))
        .fix = fmt::format("{} {}", name, planned->value);
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr) return;
    const Planned& p = *c.plan;
    for (const StatedTraining& t : stated_trainings(c)) {
        compare("TP", t.tensor, p.tensor, found);
        compare("PP", t.pipeline, p.pipeline, found);
        compare("CP", t.context, p.context, found);
        compare("EP", t.expert, p.expert, found);
        compare("ZeRO stage", t.zero, p.zero, found);
        if (t.framework != StatedTraining::Framework::megatron) continue;
        absent("TP", t.tensor, p.tensor, t, found);
        absent("PP", t.pipeline, p.pipeline, t, found);
        absent("CP", t.context, p.context, t, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-DEGREES",
            .severity = Severity::error,
            .title = "Another parallel mapping than the plan's",
            .applies = "Megatron-LM arguments, DeepSpeed, torchtitan, with --plan",
            .why =
                "the plan's step time and memory hold for its own degrees: others may not fit in "
                "memory or leave the fabric waiting",
            .fix = "take the plan's degrees",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_degrees

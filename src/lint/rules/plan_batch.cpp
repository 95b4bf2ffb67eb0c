// Another batch or sequence length than the plan's.

#include "found.hpp"
#include "planned.hpp"
#include "stated.hpp"

namespace trainyard::lint::plan_batch {

namespace {

void compare(std::string_view name, const std::optional<Count>& stated,
             const std::optional<Count>& planned, Found& found) {
    if (!stated || !planned || stated->value <= 0 || stated->value == planned->value) return;
    other_than_planned(found, name, *stated, *planned);
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr) return;
    for (const StatedTraining& t : stated_trainings(c)) {
        compare("a micro-batch of", t.micro_batch, c.plan->micro_batch, found);
        compare("a global batch of", t.global_batch, c.plan->global_batch, found);
        compare("a sequence of", t.sequence, c.plan->sequence, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-BATCH",
            .severity = Severity::warning,
            .title = "Another batch or sequence length than the plan's",
            .applies = "Megatron-LM arguments, DeepSpeed, torchtitan, with --plan",
            .why =
                "memory grows with the micro-batch and the sequence, the number of steps with the "
                "global batch: time and cost are no longer the plan's",
            .fix = "take the plan's sizes, or plan again with yours",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_batch

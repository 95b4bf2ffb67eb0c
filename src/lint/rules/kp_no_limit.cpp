// Nothing caps the accelerators.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_no_limit {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        if (p.form != Pool::Form::karpenter || !type) continue;
        if (get(p.node, {"spec", "limits"}) != nullptr) continue;
        Finding& f =
            found.at(p.where, fmt::format("NodePool {} with {} has no limits", p.name, type.text));
        f.waste = price_of(c, type.text, 1);
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-NO-LIMIT",
            .severity = Severity::note,
            .title = "An accelerated NodePool without limits",
            .applies = "Karpenter NodePools with accelerators",
            .why = "a mistake in a replica count buys any number of nodes",
            .fix = "limits: {nvidia.com/gpu: N}",
            .source = "Karpenter documentation, spec.limits",
            .find = find};
}

}  // namespace trainyard::lint::kp_no_limit

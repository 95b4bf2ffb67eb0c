// The way of buying is left to the default.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_capacity_type {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter || p.purchase) continue;
        const Said type = facts::accelerated(c, p.types);
        if (!type) continue;
        Finding& f =
            found.at(p.where, fmt::format("NodePool {} names no capacity type: on demand", p.name));
        f.waste = spot_saving(c, type.text, 1);
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-CAPACITY-TYPE",
            .severity = Severity::note,
            .title = "No karpenter.sh/capacity-type: on-demand is the default",
            .applies = "Karpenter NodePools with accelerators",
            .why = "without the requirement only on-demand is bought, whatever was planned",
            .fix =
                "require karpenter.sh/capacity-type In [on-demand], [spot] or "
                "[reserved]",
            .source = "Karpenter documentation, capacity type",
            .find = find};
}

}  // namespace trainyard::lint::kp_capacity_type

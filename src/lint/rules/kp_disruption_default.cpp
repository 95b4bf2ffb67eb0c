// No disruption block: the defaults move nodes.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_disruption_default {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter || !facts::accelerated(c, p.types)) continue;
        if (get(p.node, {"spec", "replicas"}) != nullptr) continue;
        if (get(p.node, {"spec", "disruption"}) != nullptr) continue;
        found.at(p.where, fmt::format("NodePool {} says nothing on disruption", p.name));
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-DISRUPTION-DEFAULT",
            .severity = Severity::warning,
            .title = "A NodePool with accelerators relies on the default disruption",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "the default consolidates underutilized nodes at once and evicts "
                "running training pods",
            .fix = "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 10m}",
            .source = "Karpenter documentation, NodePool spec.disruption",
            .find = find};
}

}  // namespace trainyard::lint::kp_disruption_default

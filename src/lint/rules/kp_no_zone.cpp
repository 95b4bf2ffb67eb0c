// A multi-node pool without a zone.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_no_zone {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        if (p.form != Pool::Form::karpenter || !type || !p.zones.empty()) continue;
        if (p.subnets.size() == 1 || c.instance(type.text)->efa_interfaces == 0) continue;
        found.at(p.where, fmt::format("NodePool {} with {} pins no zone", p.name, type.text));
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-NO-ZONE",
            .severity = Severity::note,
            .title = "An accelerated NodePool without a zone",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "nodes of one job may come up in different zones, where EFA and "
                "placement groups do not reach",
            .fix = "require topology.kubernetes.io/zone In one zone",
            .source = "EC2 user guide, EFA limitations",
            .certainty = Certainty::account,
            .find = find};
}

}  // namespace trainyard::lint::kp_no_zone

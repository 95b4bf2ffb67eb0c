// A placement group on top of a Capacity Block.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::cap_cb_pg {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (!p.purchase.is("capacity-block") || !p.placement) continue;
        Finding& f = found.at(
            p.placement, fmt::format("\"{}\" buys a Capacity Block and asks for a placement group",
                                     p.name.empty() ? "template" : p.name));
        f.text.clear();
        if (!p.types.empty() && p.max) f.waste = price_of(c, p.types.front().text, p.max->value);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CAP-CB-PG",
            .severity = Severity::warning,
            .title = "A placement group on capacity that is already placed",
            .applies = "ParallelCluster, EC2 templates",
            .why =
                "a Capacity Block fixes where its instances sit; a second constraint "
                "can make the launch impossible while the block is paid",
            .fix = "PlacementGroup: {Enabled: false}",
            .source = "aws/aws-parallelcluster#6311",
            .find = find};
}

}  // namespace trainyard::lint::cap_cb_pg

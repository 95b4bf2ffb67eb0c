// A placement group that spreads.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::efa_pg_strategy {

namespace {

void find(const Case& c, Found& found) {
    const bool has_efa = std::any_of(c.pools.begin(), c.pools.end(),
                                     [](const Pool& p) { return static_cast<bool>(p.efa); });
    if (!has_efa) return;
    for (const Resource& r : c.resources) {
        const bool is_tf = r.type == "aws_placement_group";
        if (!is_tf && r.type != "AWS::EC2::PlacementGroup") continue;
        const Said strategy = said(r.body, {is_tf ? "strategy" : "Strategy"});
        if (!is_one_of(strategy.text, {"spread", "partition"})) continue;
        const bool is_used = std::any_of(c.pools.begin(), c.pools.end(), [&](const Pool& p) {
            return contains(p.placement.text, r.name);
        });
        if (!is_used) continue;
        Finding& f =
            found.at(strategy, fmt::format("placement group {} is {}", r.name, strategy.text));
        f.edits.push_back({strategy.where, strategy.text, "cluster"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-PG-STRATEGY",
            .severity = Severity::warning,
            .title = "A placement group that keeps EFA nodes apart",
            .applies = "Terraform, CloudFormation",
            .why =
                "spread and partition put nodes on distant racks: latency rises, and "
                "spread holds at most seven nodes a zone",
            .fix = "strategy = \"cluster\"",
            .source = "EC2 user guide, placement groups",
            .find = find};
}

}  // namespace trainyard::lint::efa_pg_strategy

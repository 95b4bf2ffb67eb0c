// A fleet that may give a part of the nodes.

#include <fmt/format.h>

#include <set>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::fleet_gang {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::fleet || !p.desired || p.desired->value < 2) continue;
        if (p.purchase.is("capacity-block")) continue;  // what is paid is there
        const Said type = facts::accelerated(c, p.types);
        if (!type || c.instance(type.text)->efa_interfaces == 0) continue;
        const bool is_spot = p.purchase.is("spot");
        const doc::Node* options = get(p.node, is_spot ? "SpotOptions" : "OnDemandOptions");
        const auto least = count(options, {"MinTargetCapacity"});
        std::int64_t together = least ? least->value : 0;
        const auto other =
            count(get(p.node, is_spot ? "OnDemandOptions" : "SpotOptions"), {"MinTargetCapacity"});
        if (other) together += other->value;
        if (together < p.desired->value) {
            Finding& f = found.at(
                Said{std::to_string(p.desired->value), p.desired->where},
                fmt::format("{} nodes are asked for, any number may start", p.desired->value));
            f.waste = price_of(c, type.text, p.desired->value - 1);
            continue;
        }
        std::set<std::string> zones;
        for (const Said& z : p.zones) zones.insert(z.text);
        for (const Said& s : p.subnets) zones.insert(s.text);
        if (zones.size() > 1 && !is_true(get(options, "SingleAvailabilityZone"))) {
            const Said& at = p.zones.size() > 1 ? p.zones[1] : p.subnets[1];
            found.at(at, "nodes may come up in several zones").fix = "SingleAvailabilityZone: true";
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "FLEET-GANG",
            .severity = Severity::warning,
            .title = "A fleet of accelerated nodes that may start only some of them",
            .applies = "EC2 CreateFleet",
            .why =
                "a training job needs all its nodes: those that did start wait, billed,"
                " for the rest, and nodes of other types or zones cannot join",
            .fix =
                "Type instant with MinTargetCapacity = TotalTargetCapacity, "
                "SingleInstanceType and SingleAvailabilityZone",
            .source = "EC2 API, CreateFleet",
            .find = find};
}

}  // namespace trainyard::lint::fleet_gang

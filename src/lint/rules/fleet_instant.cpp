// Options of a fleet that only "instant" has.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::fleet_instant {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::fleet)) {
        const Said type = said(&d->root, {"Type"});
        if (type.is("instant")) continue;
        for (const std::string_view options : {"OnDemandOptions", "SpotOptions"}) {
            for (const std::string_view key :
                 {"MinTargetCapacity", "SingleInstanceType", "SingleAvailabilityZone"}) {
                const doc::Node* set = get(&d->root, {options, key});
                if (set == nullptr || is_false(set)) continue;
                found.at(key_said(*set, key),
                         fmt::format("{} works with Type instant only, here is {}", key,
                                     type ? type.text : "maintain, the default"));
                break;
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "FLEET-INSTANT",
            .severity = Severity::error,
            .title =
                "SingleInstanceType, SingleAvailabilityZone or MinTargetCapacity in a "
                "fleet that is not instant",
            .applies = "EC2 CreateFleet",
            .why =
                "the request is refused, or the fleet starts a part of the nodes and "
                "keeps asking while they are billed",
            .fix = "Type: instant",
            .source = "EC2 API, CreateFleet",
            .find = find};
}

}  // namespace trainyard::lint::fleet_instant

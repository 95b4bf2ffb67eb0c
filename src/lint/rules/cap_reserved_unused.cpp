// A reservation that Karpenter will not use.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::cap_reserved_unused {

namespace {

/// Nothing but reserved capacity, and no reservation selected: no node ever starts.
void only_reserved(const Pool& p, Found& found) {
    if (p.purchases.size() != 1 || !p.purchases.front().is("reserved") || p.outer == nullptr)
        return;
    const doc::Node* spec = get(p.outer, "spec");
    Finding& f = found.at(p.purchases.front(),
                          fmt::format("NodePool {} allows reserved capacity only, but its class "
                                      "selects no reservation: no node can start",
                                      p.name));
    f.fix = "capacityReservationSelectorTerms: [{id: cr-…}] in the EC2NodeClass";
    if (spec != nullptr) f.related.push_back({key_of(*spec), "the class"});
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter) continue;
        const doc::Node* terms = get(p.outer, {"spec", "capacityReservationSelectorTerms"});
        if (terms == nullptr) {
            only_reserved(p, found);
            continue;
        }
        const bool may = std::any_of(p.purchases.begin(), p.purchases.end(),
                                     [](const Said& s) { return s.is("reserved"); });
        if (may) continue;
        const Said at = p.purchase ? p.purchase : Said{"NodePool", p.where};
        Finding& f =
            found.at(at, fmt::format("NodePool {} does not allow capacity-type reserved, but "
                                     "its class selects a reservation: it stays unused",
                                     p.name));
        f.related.push_back({key_of(*terms), "the reservation"});
        if (const Said t = facts::accelerated(c, p.types)) f.waste = price_of(c, t.text, 1);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CAP-RESERVED-UNUSED",
            .severity = Severity::error,
            .title =
                "A capacity reservation is selected but the NodePool may not use "
                "reserved capacity",
            .applies = "Karpenter",
            .why =
                "the reservation is billed whether it is used or not, and the nodes "
                "come on top of it",
            .fix = "add \"reserved\" to karpenter.sh/capacity-type",
            .source =
                "Karpenter documentation, EC2NodeClass "
                "capacityReservationSelectorTerms; zalando-incubator/kubernetes-on-"
                "aws#11623",
            .holds_for =
                "Karpenter 1.3 and later; from 1.6 open reservations are ignored, too, "
                "unless selected",
            .find = find};
}

}  // namespace trainyard::lint::cap_reserved_unused

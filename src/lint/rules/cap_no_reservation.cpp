// Many nodes of a scarce type, on demand.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::cap_no_reservation {

namespace {

constexpr std::int64_t kMany = 16;

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        const bool is_sized = p.max && p.max->value >= kMany;
        if (!type || !is_sized || p.reservation || p.purchase.is("capacity-block")) continue;
        if (!facts::is_block_type(type.text)) continue;
        const std::string price = price_words(c, type.text, p.max->value);
        Finding& f = found.at(
            Said{std::to_string(p.max->value), p.max->where},
            fmt::format("up to {} without a reservation", price.empty() ? type.text : price));
        f.waste = price_of(c, type.text, p.max->value);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CAP-NO-RESERVATION",
            .severity = Severity::note,
            .title = "Many nodes of a scarce type without a reservation",
            .applies = "ParallelCluster, eksctl, Terraform node groups",
            .why =
                "on-demand capacity of P4, P5, P6 and Trainium is rarely free in such "
                "numbers: part of the nodes starts and waits, billed, for the rest",
            .fix = "a Capacity Block, an On-Demand Capacity Reservation, or fewer nodes",
            .source = "EC2 user guide, Capacity Reservations; data/plan/rules.csv",
            .certainty = Certainty::account,
            .find = find};
}

}  // namespace trainyard::lint::cap_no_reservation

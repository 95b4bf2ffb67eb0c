// Network interfaces numbered in a way that EC2 refuses.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::efa_nic_layout {

namespace {

std::int64_t card_of(const Nic& n) { return n.card ? n.card->value : 0; }
std::int64_t device_of(const Nic& n) { return n.device ? n.device->value : 0; }

bool check_indexes(const Pool& p, Found& found) {
    std::int64_t largest = 0;
    const Nic* first = nullptr;
    for (const Nic& n : p.nics) {
        if (device_of(n) > largest) largest = device_of(n);
        if (device_of(n) > 1 && first == nullptr) first = &n;
    }
    const bool is_efa =
        std::any_of(p.nics.begin(), p.nics.end(), [](const Nic& n) { return n.is_efa(); });
    // Several plain interfaces on card 0 are legal; on another card the index is 0 or 1.
    if (first == nullptr || (!is_efa && card_of(*first) == 0)) return false;
    const bool one_card =
        std::all_of(p.nics.begin(), p.nics.end(), [](const Nic& n) { return card_of(n) == 0; });
    Finding& f = found.at(
        first->device->where,
        one_card ? fmt::format("all {} interfaces are on network card 0 and DeviceIndex counts up "
                               "to {}: each EFA interface needs a card of its own",
                               p.nics.size(), largest)
                 : fmt::format("DeviceIndex must be 0 or 1, here it counts up to {}", largest));
    f.text = std::to_string(first->device->value);
    return true;
}

void check_cards(const Case& c, const Pool& p, Found& found) {
    const catalog::Instance* i = facts::only(c, p.types);
    std::set<std::int64_t> efa_cards;
    std::set<std::pair<std::int64_t, std::int64_t>> places;
    for (const Nic& n : p.nics) {
        const Location& at = n.card ? n.card->where : n.where;
        if (!places.insert({card_of(n), device_of(n)}).second) {
            found.at(at, fmt::format("two interfaces on network card {}, device {}", card_of(n),
                                     device_of(n)));
            return;
        }
        if (n.is_efa() && !efa_cards.insert(card_of(n)).second) {
            found.at(at, fmt::format("two EFA interfaces on network card {}: a card carries one",
                                     card_of(n)));
            return;
        }
        const std::int64_t cards = i == nullptr ? 0 : i->network_cards.value_or(0);
        if (cards > 0 && card_of(n) >= cards) {
            found.at(at, fmt::format("{} has {} network cards (0 to {}), here is card {}", i->type,
                                     cards, cards - 1, card_of(n)));
            return;
        }
        if (n.type.is("efa-only") && card_of(n) == 0 && device_of(n) == 0) {
            found
                .at(n.type,
                    "the primary interface (card 0, device 0) is efa-only: it needs an IP "
                    "address")
                .fix = "make card 0, device 0 an \"interface\"";
            return;
        }
        if (i != nullptr && i->family == "p6-b300" && n.is_efa() && card_of(n) == 0) {
            found.at(n.type, "p6-b300 has no EFA on card 0").fix =
                "card 0 is \"interface\"; EFA goes on cards 1 to 16";
            return;
        }
    }
    if (!places.empty() && places.count({0, 0}) == 0) {
        found.at(p.nics.front().where, "no interface on card 0, device 0: the primary is missing");
    }
}

/// One interface without indexes: a loop that makes many, or a lone one.
bool is_generated(const Pool& p) {
    const Nic& n = p.nics.front();
    return p.nics.size() == 1 && (!n.card || !n.device);
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.nics.empty() || is_generated(p)) continue;
        if (!check_indexes(p, found)) check_cards(c, p, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-NIC-LAYOUT",
            .severity = Severity::error,
            .title = "Network cards and device indexes that do not fit the instance type",
            .applies = "EC2 launch templates and instances, Terraform, CloudFormation",
            .why =
                "EC2 refuses the launch, or all EFA interfaces sit on one card and the "
                "others stay dark",
            .fix =
                "count NetworkCardIndex up (0 to cards-1); DeviceIndex is 0 on card 0, "
                "and 0 or 1 on the others",
            .source =
                "EC2 user guide, efa-acc-inst-types; aws/aws-k8s-tester#531; terraform-"
                "aws-eks#2182",
            .find = find};
}

}  // namespace trainyard::lint::efa_nic_layout

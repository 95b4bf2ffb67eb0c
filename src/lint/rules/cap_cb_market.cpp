// A launch into a Capacity Block without its market type.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::cap_cb_market {

namespace {

/// A node group of CAPACITY_BLOCK whose module makes the launch template.
bool check_node_group(const Case& c, const Pool& p, Found& found) {
    const bool is_one = p.form == Pool::Form::node_group && p.purchase.is("capacity-block") &&
                        get(p.node, "instance_types") != nullptr &&
                        get(p.node, "capacity_reservation_specification") != nullptr;
    if (!is_one || get(p.node, "instance_market_options") != nullptr) return false;
    if (get(p.node, "launch_template") != nullptr) return false;
    Finding& f = found.at(p.purchase, fmt::format("node group \"{}\" is of CAPACITY_BLOCK without "
                                                  "the market type capacity-block",
                                                  p.name));
    f.severity = Severity::error;
    f.needs_account = false;
    f.fix = "add instance_market_options = { market_type = \"capacity-block\" }";
    if (!p.types.empty()) f.waste = price_of(c, p.types.front().text, 1);
    return true;
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (check_node_group(c, p, found)) continue;
        const bool is_launch =
            p.form == Pool::Form::launch_template || p.form == Pool::Form::instance;
        if (is_launch && p.reservation && p.purchase.is("spot")) {
            Finding& f =
                found.at(p.purchase, "spot cannot be launched into a capacity reservation");
            f.severity = Severity::error;
            f.needs_account = false;
            f.fix = "capacity-block for a Capacity Block, none for an on-demand reservation";
            continue;
        }
        if (!is_launch || !p.reservation || p.purchase || p.types.empty()) continue;
        const Said& type = p.types.front();
        if (!facts::is_block_type(type.text)) continue;
        const bool is_block = contains(p.reservation.text, "capacity_block");
        Finding& f = found.at(
            p.reservation,
            is_block ? fmt::format("{} is launched into a Capacity Block without the market type "
                                   "capacity-block: EC2 refuses it",
                                   type.text)
                     : fmt::format("{} targets a reservation without a market type: if it is a "
                                   "Capacity Block, EC2 refuses the launch",
                                   type.text));
        if (is_block) {
            f.severity = Severity::error;
            f.needs_account = false;
            f.fix = "add instance_market_options { market_type = \"capacity-block\" }";
        }
        f.waste = price_of(c, type.text, 1);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CAP-CB-MARKET",
            .severity = Severity::warning,
            .title = "A reservation is targeted without InstanceMarketOptions capacity-block",
            .applies = "EC2 launch templates and instances, Terraform, CloudFormation",
            .why =
                "EC2 refuses to launch into a Capacity Block unless the market type "
                "says so; the block is paid up front and runs out unused",
            .fix = "add MarketType \"capacity-block\" if the reservation is a Capacity Block",
            .source =
                "EC2 user guide, launch instances using Capacity Blocks; "
                "awslabs/awsome-distributed-ai#334",
            .certainty = Certainty::account,
            .find = find};
}

}  // namespace trainyard::lint::cap_cb_market

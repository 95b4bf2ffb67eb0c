// A reservation that nothing launches into.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::cap_reservation_idle {

namespace {

void find(const Case& c, Found& found) {
    for (const Resource& r : c.resources) {
        const bool is_tf = r.type == "aws_ec2_capacity_reservation";
        if (!is_tf && r.type != "AWS::EC2::CapacityReservation") continue;
        const Said match =
            said(r.body, {is_tf ? "instance_match_criteria" : "InstanceMatchCriteria"});
        if (!match.is("targeted")) continue;
        const bool is_named = std::any_of(c.pools.begin(), c.pools.end(), [&](const Pool& p) {
            return static_cast<bool>(p.reservation);
        });
        const bool has_launch = std::any_of(c.pools.begin(), c.pools.end(), [](const Pool& p) {
            return p.form == Pool::Form::instance || p.form == Pool::Form::launch_template;
        });
        if (is_named || !has_launch) continue;
        const Said type = said(r.body, {is_tf ? "instance_type" : "InstanceType"});
        const auto n = count(r.body, {is_tf ? "instance_count" : "InstanceCount"});
        Finding& f = found.at(
            match, fmt::format("reservation {} is targeted, but no launch names it", r.name));
        f.waste = price_of(c, type.text, n ? n->value : 1);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CAP-RESERVATION-IDLE",
            .severity = Severity::warning,
            .title = "A targeted capacity reservation that nothing in the files targets",
            .applies = "Terraform, CloudFormation",
            .why =
                "a targeted reservation is used only by instances that name it: it is "
                "billed at the full rate and stays empty, and the instances come on top",
            .fix =
                "capacity_reservation_specification { capacity_reservation_target { … }"
                " } in the launch template",
            .source = "EC2 user guide, On-Demand Capacity Reservations",
            .find = find};
}

}  // namespace trainyard::lint::cap_reservation_idle

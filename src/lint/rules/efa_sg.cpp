// A security group of EFA interfaces that does not let EFA through.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::efa_sg {

namespace {

bool allows(const SecurityGroup& g, bool is_ingress) {
    return std::any_of(g.rules.begin(), g.rules.end(), [&](const GroupRule& r) {
        return r.is_ingress == is_ingress && r.is_self && r.protocol == "-1";
    });
}

bool is_used(const Pool& p, const SecurityGroup& g) {
    return std::any_of(p.nics.begin(), p.nics.end(), [&](const Nic& n) {
        return n.is_efa() && std::any_of(n.groups.begin(), n.groups.end(), [&](const Said& s) {
                   return s.text == g.name || s.text.starts_with(g.name + ".");
               });
    });
}

void find(const Case& c, Found& found) {
    for (const SecurityGroup& g : c.groups) {
        if (!g.is_whole) continue;
        const bool carries_efa = std::any_of(c.pools.begin(), c.pools.end(),
                                             [&](const Pool& p) { return is_used(p, g); });
        if (!carries_efa) continue;
        const bool in = allows(g, true);
        const bool out = allows(g, false);
        if (in && out) continue;
        found.at(g.where,
                 fmt::format("security group {} carries EFA but has no all-traffic rule {}", g.name,
                             in    ? "to itself (egress)"
                             : out ? "from itself (ingress)"
                                   : "from itself and to itself"));
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-SG",
            .severity = Severity::error,
            .title = "The EFA security group lacks an all-traffic rule to itself, both ways",
            .applies = "Terraform, CloudFormation, describe-security-groups beside a template",
            .why =
                "EFA traffic is not TCP or UDP: without all protocols from and to the "
                "group itself NCCL hangs at start; 0.0.0.0/0 outbound alone is not "
                "enough",
            .fix =
                "one ingress and one egress rule with protocol -1 whose source and "
                "destination is the group itself",
            .source =
                "EC2 user guide, EFA; ParallelCluster EfaSecurityGroupValidator; "
                "aws/aws-ofi-nccl#663",
            .find = find};
}

}  // namespace trainyard::lint::efa_sg

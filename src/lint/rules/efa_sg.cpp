// A security group of EFA interfaces that does not let EFA through.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "trainyard/base/text.hpp"

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

/// "efa" in its label or name: it is meant for EFA, whatever attaches it.
bool is_called_efa(const SecurityGroup& g) {
    const std::string text = to_lower(g.name + " " + g.title);
    for (std::size_t at = text.find("efa"); at != std::string::npos;
         at = text.find("efa", at + 1)) {
        const auto is_letter = [](char ch) { return ch >= 'a' && ch <= 'z'; };
        const bool begins = at == 0 || !is_letter(text[at - 1]);
        const bool ends = at + 3 >= text.size() || !is_letter(text[at + 3]);
        if (begins && ends) return true;
    }
    return false;
}

void find(const Case& c, Found& found) {
    for (const SecurityGroup& g : c.groups) {
        if (!g.is_whole) continue;
        const bool carries_efa = std::any_of(c.pools.begin(), c.pools.end(),
                                             [&](const Pool& p) { return is_used(p, g); });
        if (!carries_efa && (!is_called_efa(g) || g.rules.empty())) continue;
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

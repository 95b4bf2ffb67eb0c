// Nodes that end by age under a long run.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_expire {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        if (p.form != Pool::Form::karpenter || !type) continue;
        const Said expire = said(p.node, {"spec", "template", "spec", "expireAfter"});
        if (expire.is("Never")) continue;
        if (expire) {
            found
                .at(expire,
                    fmt::format("NodePool {} replaces its nodes after {}", p.name, expire.text))
                .edits.push_back({expire.where, expire.text, "Never"});
        } else {
            Finding& f = found.at(p.where, fmt::format("NodePool {} replaces its nodes after 720h, "
                                                       "the default",
                                                       p.name));
            f.severity = Severity::note;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-EXPIRE",
            .severity = Severity::warning,
            .title = "Nodes with accelerators expire while jobs run",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "expireAfter (30 days if unset) drains a node whatever runs on it, "
                "budgets do not hold it back: a long run loses a node and falls back to"
                " its checkpoint",
            .fix = "expireAfter: Never",
            .source = "Karpenter documentation, spec.template.spec.expireAfter",
            .holds_for = "Karpenter 1.0 and later",
            .find = find};
}

}  // namespace trainyard::lint::kp_expire

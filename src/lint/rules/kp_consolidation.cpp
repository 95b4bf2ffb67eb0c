// Karpenter may move nodes under running training pods.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_consolidation {

namespace {

bool all_kept(const Case& c, const Pool& p, bool& any) {
    for (const Job& job : c.jobs) {
        const auto& pools = c.pools_of(job);
        if (std::find(pools.begin(), pools.end(), &p) == pools.end()) continue;
        any = true;
        if (!facts::is_kept(job)) return false;
    }
    return any;
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        if (p.form != Pool::Form::karpenter || !type) continue;
        if (get(p.node, {"spec", "replicas"}) != nullptr) continue;
        const doc::Node* disruption = get(p.node, {"spec", "disruption"});
        const Said policy = said(disruption, {"consolidationPolicy"});
        if (policy.is("WhenEmpty") || (disruption == nullptr && !policy)) continue;
        bool any = false;
        if (all_kept(c, p, any)) continue;
        const Said at = policy ? policy : key_said(*disruption, "disruption");
        Finding& f = found.at(
            at, policy ? fmt::format("NodePool {} consolidates {}: running pods are moved", p.name,
                                     policy.text)
                       : fmt::format("NodePool {} consolidates underutilized nodes by default",
                                     p.name));
        if (!any) f.severity = Severity::warning;
        f.waste = price_of(c, type.text, 1);
        if (policy) f.edits.push_back({policy.where, policy.text, "WhenEmpty"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-CONSOLIDATION",
            .severity = Severity::error,
            .title = "Consolidation can evict running training pods",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "every eviction throws the whole gang back to its last checkpoint; a "
                "moved 8-GPU node also pays a new start-up",
            .fix =
                "consolidationPolicy: WhenEmpty, and annotate the pods with "
                "karpenter.sh/do-not-disrupt: \"true\"",
            .source = "Karpenter documentation, disruption; dynamical-org/reformatters#945",
            .find = find};
}

}  // namespace trainyard::lint::kp_consolidation

// A grace period that overrides do-not-disrupt.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_grace {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter || !facts::accelerated(c, p.types)) continue;
        const Said grace = said(p.node, {"spec", "template", "spec", "terminationGracePeriod"});
        if (!grace) continue;
        const bool never_ages =
            said(p.node, {"spec", "template", "spec", "expireAfter"}).is("Never");
        const bool is_spot = p.purchase.is("spot");
        Finding& f =
            found.at(grace, fmt::format("NodePool {} ends pods {} after their node is to go, "
                                        "do-not-disrupt or not",
                                        p.name, grace.text));
        if (never_ages || is_spot) f.severity = Severity::note;
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-GRACE",
            .severity = Severity::warning,
            .title = "terminationGracePeriod ends pods that asked not to be disrupted",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "once a node drifts or expires, the grace period overrides "
                "karpenter.sh/do-not-disrupt: a long run is killed at its end",
            .fix = "leave terminationGracePeriod out for training pools",
            .source = "Karpenter documentation, terminationGracePeriod",
            .holds_for = "Karpenter 1.0 and later",
            .find = find};
}

}  // namespace trainyard::lint::kp_grace

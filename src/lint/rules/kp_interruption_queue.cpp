// Spot nodes whose interruption notice nobody reads.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::kp_interruption_queue {

namespace {

void find(const Case& c, Found& found) {
    const bool buys_spot = std::any_of(c.pools.begin(), c.pools.end(), [](const Pool& p) {
        return p.form == Pool::Form::karpenter &&
               std::any_of(p.purchases.begin(), p.purchases.end(),
                           [](const Said& s) { return s.is("spot"); });
    });
    for (const Document* d : c.of_kind(Kind::helm_values)) {
        const doc::Node* settings = get(&d->root, "settings");
        if (settings == nullptr) continue;
        const doc::Node* queue = settings->find("interruptionQueue");
        const bool is_url = queue != nullptr && queue->text().starts_with("https://");
        if (is_url || (queue != nullptr && queue->text().starts_with("arn:"))) {
            found.at(Said{queue->text(), queue->where},
                     fmt::format("interruptionQueue is {}: Karpenter wants the queue's name",
                                 is_url ? "a URL" : "an ARN"));
        }
        if (!buys_spot || (queue != nullptr && !queue->text().empty())) continue;
        const Location at = queue != nullptr ? queue->where : key_of(*settings);
        found.at(at, "a NodePool buys spot, but Karpenter has no interruption queue");
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-INTERRUPTION-QUEUE",
            .severity = Severity::error,
            .title = "Spot NodePools, but settings.interruptionQueue is empty",
            .applies = "Karpenter Helm values beside NodePools",
            .why =
                "Karpenter never sees the two-minute notice: nodes vanish without a "
                "drain and jobs get no time to save",
            .fix = "settings.interruptionQueue: the name (not the URL) of the SQS queue",
            .source =
                "Karpenter documentation, interruption handling; kubernetes-"
                "sigs/karpenter#1145",
            .find = find};
}

}  // namespace trainyard::lint::kp_interruption_queue

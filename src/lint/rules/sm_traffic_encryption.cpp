// Encrypted traffic between the nodes.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sm_traffic_encryption {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        const std::int64_t nodes = t.count ? t.count->value : 1;
        if (!t.traffic_encryption.is("true") || nodes < 2) continue;
        if (!facts::is_accelerated(c, t.type.text)) continue;
        found
            .at(t.traffic_encryption.where,
                fmt::format("the traffic of {} nodes is encrypted", nodes))
            .waste = price_of(c, t.type.text, nodes);
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-TRAFFIC-ENCRYPTION",
            .severity = Severity::warning,
            .title = "Encryption between the nodes of a multi-node job",
            .applies = "SageMaker jobs with several accelerated instances",
            .why =
                "every collective is encrypted: distributed training takes noticeably "
                "longer, and the hours are paid",
            .fix =
                "leave EnableInterContainerTrafficEncryption off unless a policy "
                "demands it",
            .source = "SageMaker documentation, protect communications between instances",
            .find = find};
}

}  // namespace trainyard::lint::sm_traffic_encryption

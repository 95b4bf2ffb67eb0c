// Two ways to keep instances that exclude each other.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::sm_warm_pool {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (!t.keep_alive || t.keep_alive->value <= 0) continue;
        const Said at{std::to_string(t.keep_alive->value), t.keep_alive->where};
        const std::int64_t nodes = t.count ? t.count->value : 1;
        if (t.is_spot()) {
            found.at(at, "KeepAlivePeriodInSeconds does not go with managed spot training");
        } else if (t.keep_alive->value > 21'600) {
            found
                .at(at, fmt::format("KeepAlivePeriodInSeconds of {} is over the limit of 21600",
                                    t.keep_alive->value))
                .waste = price_of(c, t.type.text, nodes);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-WARM-POOL",
            .severity = Severity::error,
            .title = "A warm pool together with managed spot, or longer than allowed",
            .applies = "SageMaker jobs",
            .why = "the request is refused; a kept pool is billed while it idles",
            .fix =
                "drop KeepAlivePeriodInSeconds, or the spot flag; at most 3600 s by "
                "default, 21600 s with a quota",
            .source = "SageMaker documentation, managed warm pools",
            .find = find};
}

}  // namespace trainyard::lint::sm_warm_pool

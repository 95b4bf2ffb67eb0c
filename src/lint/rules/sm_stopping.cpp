// Time limits that contradict each other.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::sm_stopping {

namespace {

constexpr std::int64_t kLongest = 2'419'200;  ///< seconds; SageMaker's quota

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (t.is_open) continue;
        if (t.max_wait && !t.is_spot() && !is_open(t.spot.text)) {
            found
                .at(Said{std::to_string(t.max_wait->value), t.max_wait->where},
                    "MaxWaitTimeInSeconds is only valid with managed spot training")
                .fix = "remove it, or set EnableManagedSpotTraining: true";
        } else if (t.max_wait && t.max_run && t.max_wait->value < t.max_run->value) {
            found
                .at(Said{std::to_string(t.max_wait->value), t.max_wait->where},
                    fmt::format("the wait of {} s is shorter than the run of {} s",
                                t.max_wait->value, t.max_run->value))
                .fix = fmt::format("at least {}; twice the run leaves room to wait for capacity",
                                   t.max_run->value);
        } else if (t.is_spot() && !t.has_max_wait) {
            found.at(t.spot.where, "managed spot training needs a MaxWaitTimeInSeconds").fix =
                "max_wait of at least max_run";
        }
        if (t.max_run && t.max_run->value > kLongest) {
            found.at(Said{std::to_string(t.max_run->value), t.max_run->where},
                     fmt::format("{} s is more than 28 days, the longest job", t.max_run->value));
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-STOPPING",
            .severity = Severity::error,
            .title = "Stopping conditions that SageMaker refuses, or that end the job early",
            .applies = "SageMaker jobs",
            .why =
                "the request is refused, or the job is cut off before it is done and "
                "what was not saved is lost",
            .fix =
                "MaxWaitTimeInSeconds only with spot and at least MaxRuntimeInSeconds; "
                "at most 28 days",
            .source = "SageMaker API, StoppingCondition; Kenza-AI/sagify#111",
            .find = find};
}

}  // namespace trainyard::lint::sm_stopping

// The default time limit.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::sm_default_runtime {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (t.has_max_run || t.is_open) continue;
        const bool is_v3 = t.form == Training::Form::trainer;
        found.at(t.where,
                 fmt::format("no time limit: the job is stopped after {}", is_v3 ? "1 h" : "24 h"));
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-DEFAULT-RUNTIME",
            .severity = Severity::note,
            .title = "No time limit is given: the default is short",
            .applies = "SageMaker jobs",
            .why =
                "a ModelTrainer stops after 1 h and an estimator after 24 h: a longer "
                "run is cut off, and what was not saved is lost",
            .fix = "set max_run (StoppingCondition.MaxRuntimeInSeconds)",
            .source = "SageMaker Python SDK 2 and 3, defaults",
            .find = find};
}

}  // namespace trainyard::lint::sm_default_runtime

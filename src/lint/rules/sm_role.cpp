// No role.

#include "found.hpp"

namespace trainyard::lint::sm_role {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        const bool is_needed =
            t.form == Training::Form::estimator ||
            (t.form == Training::Form::request && get(t.node, "AlgorithmSpecification") != nullptr);
        if (!is_needed || t.role || t.is_open || get(t.node, "#0") != nullptr) continue;
        if (get(t.node, "TrainingJobStatus") != nullptr) continue;
        found.at(t.where, "no execution role is given");
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-ROLE",
            .severity = Severity::error,
            .title = "A training job without an execution role",
            .applies = "SageMaker jobs",
            .why = "the estimator cannot be made: nothing starts",
            .fix = "role=\"arn:aws:iam::ACCOUNT:role/NAME\"",
            .source = "SageMaker Python SDK 2, EstimatorBase; CreateTrainingJob RoleArn",
            .find = find};
}

}  // namespace trainyard::lint::sm_role

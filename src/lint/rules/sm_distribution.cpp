// A distribution that the instances or the SDK do not support.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sm_distribution {

namespace {

constexpr std::string_view kSmddp[] = {"p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge",
                                       "p4de.24xlarge"};

bool supports_smddp(std::string_view type) {
    return std::any_of(std::begin(kSmddp), std::end(kSmddp),
                       [&](std::string_view t) { return facts::bare_type(type) == t; });
}

/// What the SDK writes into the hyperparameters of a request.
void check_request(const Training& t, Found& found) {
    for (const EnvVar& v : t.hyperparameters) {
        const bool is_on = v.name == "sagemaker_distributed_dataparallel_enabled" &&
                           is_one_of(v.value.text, {"true", "True", "\"true\""});
        if (!is_on || !t.type || is_open(t.type.text) || supports_smddp(t.type.text)) continue;
        found.at(Said{v.name, v.value.where},
                 fmt::format("smdistributed.dataparallel is not supported on {}", t.type.text));
    }
}

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        check_request(t, found);
        if (t.form != Training::Form::estimator || t.is_open) continue;
        const doc::Node* smddp = get(t.distribution, {"smdistributed", "dataparallel"});
        if (is_true(get(smddp, "enabled")) && t.type && !is_open(t.type.text) &&
            !supports_smddp(t.type.text)) {
            found.at(key_said(*smddp, "dataparallel"),
                     fmt::format("smdistributed.dataparallel is not supported on {}", t.type.text));
        }
        if (t.distribution == nullptr && t.count && t.count->value > 1 &&
            facts::is_accelerated(c, t.type.text)) {
            Finding& f = found.at(Said{std::to_string(t.count->value), t.count->where},
                                  fmt::format("{} instances without a distribution: each runs the "
                                              "script alone",
                                              t.count->value));
            f.severity = Severity::warning;
            f.waste = price_of(c, t.type.text, t.count->value - 1);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-DISTRIBUTION",
            .severity = Severity::error,
            .title = "A distribution that does not run on this instance type",
            .applies = "SageMaker Python",
            .why = "the estimator refuses it, or all nodes but one idle and are billed",
            .fix = "distribution={\"torch_distributed\": {\"enabled\": True}}",
            .source =
                "SageMaker documentation, SMDDP supported instances; aws/sagemaker-"
                "python-sdk#4988",
            .find = find};
}

}  // namespace trainyard::lint::sm_distribution

// Subnets without security groups, or the other way round.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::sm_vpc_half {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (t.is_open) continue;
        const doc::Node* subnets = nullptr;
        const doc::Node* groups = nullptr;
        if (t.form == Training::Form::estimator) {
            subnets = get(t.node, "subnets");
            groups = get(t.node, "security_group_ids");
        } else if (t.form == Training::Form::trainer) {
            subnets = get(t.node, {"networking", "subnets"});
            groups = get(t.node, {"networking", "security_group_ids"});
        } else {
            subnets = get(t.node, {"VpcConfig", "Subnets"});
            groups = get(t.node, {"VpcConfig", "SecurityGroupIds"});
        }
        if ((subnets == nullptr) == (groups == nullptr)) continue;
        const doc::Node& given = subnets != nullptr ? *subnets : *groups;
        found.at(key_said(given, subnets != nullptr ? "subnets" : "security groups"),
                 fmt::format("{} without {}", subnets != nullptr ? "subnets" : "security groups",
                             subnets != nullptr ? "security groups" : "subnets"));
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-VPC-HALF",
            .severity = Severity::warning,
            .title = "Half a VPC configuration",
            .applies = "SageMaker jobs",
            .why =
                "the SDK drops the half that is there without a word and the job runs outside "
                "your VPC; the API refuses it",
            .fix = "give both subnets and security groups",
            .source = "sagemaker-python-sdk, vpc_utils.to_dict; SageMaker API, VpcConfig",
            .find = find};
}

}  // namespace trainyard::lint::sm_vpc_half

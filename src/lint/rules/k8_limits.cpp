// Devices asked for where Kubernetes does not look.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::k8_limits {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        const doc::Node* requests = get(job.container, {"resources", "requests"});
        const doc::Node* limits = get(job.container, {"resources", "limits"});
        for (const std::string_view name :
             {"nvidia.com/gpu", "vpc.amazonaws.com/efa", "aws.amazon.com/neuron"}) {
            const auto asked = count(get(requests, name));
            const auto limit = count(get(limits, name));
            if (!asked || (limit && limit->value == asked->value)) continue;
            found.at(Said{std::to_string(asked->value), asked->where},
                     fmt::format("{} is requested ({}) but {}", name, asked->value,
                                 limit ? fmt::format("limited to {}", limit->value)
                                       : std::string("has no limit")));
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "K8-LIMITS",
            .severity = Severity::error,
            .title = "Devices in requests without limits",
            .applies = "Kubernetes pods",
            .why =
                "Kubernetes refuses extended resources without a limit, or with one "
                "that differs: the pod is not made",
            .fix = "write the same number under limits",
            .source = "Kubernetes documentation, schedule GPUs",
            .find = find};
}

}  // namespace trainyard::lint::k8_limits

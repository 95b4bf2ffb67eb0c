// Algorithm, protocol or channels of NCCL fixed by hand.

#include <fmt/format.h>

#include "environment.hpp"
#include "found.hpp"

namespace trainyard::lint::nccl_forced {

namespace {

void find(const Case& c, Found& found) {
    each_variable(c, [&](const EnvVar& v, const Job*, const Training*) {
        const std::string_view text = v.value.text;
        const bool is_slow_protocol =
            v.name == "NCCL_PROTO" && is_one_of(text, {"LL", "ll", "LL128", "ll128"});
        const bool is_forced = v.name == "NCCL_ALGO" || v.name == "NCCL_PROTO" ||
                               v.name == "NCCL_MAX_NCHANNELS" || v.name == "NCCL_MIN_NCHANNELS";
        if (!is_forced || text.empty()) return;
        Finding& f = found.at(
            name_of(v), fmt::format("{}={} is used for every size and operation", v.name, text));
        if (is_slow_protocol) {
            f.severity = Severity::warning;
            f.why =
                "LL moves 4 bytes of data with 4 bytes of flag: large messages get half the "
                "bandwidth or less";
        } else if (v.name == "NCCL_MAX_NCHANNELS" && is_one_of(text, {"1", "2"})) {
            f.severity = Severity::warning;
            f.why = "so few channels cannot fill several interfaces or NVLinks";
        }
    });
}

}  // namespace

Rule rule() {
    return {.id = "NCCL-FORCED",
            .severity = Severity::note,
            .title = "NCCL's choice of algorithm, protocol or channels is overridden",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "NCCL and the tuner of aws-ofi-nccl choose by message size and instance type; one "
                "value for all is best for one size at most",
            .fix = "leave it unset (NCCL_PROTO=simple only for aws-ofi-nccl up to 1.5)",
            .source =
                "awslabs/awsome-distributed-ai efa-cheatsheet; NVIDIA NCCL documentation, "
                "environment variables",
            .find = find};
}

}  // namespace trainyard::lint::nccl_forced

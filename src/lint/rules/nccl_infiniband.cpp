// Variables of InfiniBand, which AWS does not have.

#include <fmt/format.h>

#include "environment.hpp"
#include "found.hpp"

namespace trainyard::lint::nccl_infiniband {

namespace {

void find(const Case& c, Found& found) {
    each_variable(c, [&](const EnvVar& v, const Job*, const Training*) {
        if (v.name == "NCCL_NET" && v.value.is("IB")) {
            Finding& f = found.at(name_of(v), "NCCL_NET=IB: AWS has no InfiniBand");
            f.severity = Severity::error;
            f.why = "NCCL finds no such network and refuses to start";
        } else if (v.name == "NCCL_IB_HCA" || v.name == "NCCL_IB_GID_INDEX" ||
                   v.name == "NCCL_IB_DISABLE" || v.name == "NCCL_IB_TIMEOUT" ||
                   v.name == "NCCL_IB_QPS_PER_CONNECTION") {
            found.at(name_of(v), fmt::format("{} has no effect on EFA", v.name));
        }
    });
}

}  // namespace

Rule rule() {
    return {.id = "NCCL-IB",
            .severity = Severity::note,
            .title = "InfiniBand variables on AWS",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "they come from another cluster: EFA is no InfiniBand, so whoever tunes them tunes "
                "nothing",
            .fix = "remove them",
            .source = "aws/aws-ofi-nccl README; NVIDIA NCCL documentation, environment variables",
            .find = find};
}

}  // namespace trainyard::lint::nccl_infiniband

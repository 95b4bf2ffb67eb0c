// A rank could not reach another one.

#include "log_symptom.hpp"

namespace trainyard::lint::log_connect {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-CONNECT", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-CONNECT",
            .severity = Severity::error,
            .title = "A rank could not reach another one",
            .applies = "logs of NCCL",
            .why = "the job never starts, while all nodes are paid",
            .fix = "NCCL_SOCKET_IFNAME, one subnet, a security group open to itself",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_connect

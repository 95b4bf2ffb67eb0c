// The measured bandwidth is far below the expected one.

#include "log_symptom.hpp"

namespace trainyard::lint {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-SLOW", found); }

}  // namespace

Rule log_slow_rule() {
    return {.id = "NCCL-SLOW",
            .severity = Severity::warning,
            .title = "The measured bandwidth is far below the expected one",
            .applies = "logs of NCCL",
            .why = "communication takes as much longer",
            .fix = "all interfaces, GPUDirect RDMA, current versions",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint

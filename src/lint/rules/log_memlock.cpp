// Memory could not be locked or registered.

#include "log_symptom.hpp"

namespace trainyard::lint::log_memlock {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-MEMLOCK", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-MEMLOCK",
            .severity = Severity::error,
            .title = "Memory could not be locked or registered",
            .applies = "logs of NCCL",
            .why = "EFA registers its buffers as locked memory",
            .fix = "--ulimit memlock=-1",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_memlock

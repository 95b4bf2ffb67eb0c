// NCCL warns.

#include "log_symptom.hpp"

namespace trainyard::lint::log_warn {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-WARN", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-WARN",
            .severity = Severity::note,
            .title = "NCCL warns",
            .applies = "logs of NCCL",
            .why = "NCCL says it by itself",
            .fix = "read the line",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_warn

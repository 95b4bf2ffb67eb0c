// The log holds nothing of NCCL.

#include "log_symptom.hpp"

namespace trainyard::lint {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-SILENT", found); }

}  // namespace

Rule log_silent_rule() {
    return {.id = "NCCL-SILENT",
            .severity = Severity::note,
            .title = "The log holds nothing of NCCL",
            .applies = "logs of NCCL",
            .why = "nothing can be told from it",
            .fix = "NCCL_DEBUG=INFO",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint

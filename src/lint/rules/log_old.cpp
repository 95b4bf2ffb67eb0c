// NCCL or its plugin is older than the instance needs.

#include "log_symptom.hpp"

namespace trainyard::lint::log_old {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-OLD", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-OLD",
            .severity = Severity::warning,
            .title = "NCCL or its plugin is older than the instance needs",
            .applies = "logs of NCCL",
            .why = "old versions use the network of newer instances badly or not at all",
            .fix = "a newer EFA installer and NCCL",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_old

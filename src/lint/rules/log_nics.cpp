// Not all EFA interfaces of the node are used.

#include "log_symptom.hpp"

namespace trainyard::lint::log_nics {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-NICS", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-NICS",
            .severity = Severity::warning,
            .title = "Not all EFA interfaces of the node are used",
            .applies = "logs of NCCL",
            .why = "the bandwidth of the others is paid and unused",
            .fix = "one EFA interface on each network card",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_nics

// NCCL found no network plugin.

#include "log_symptom.hpp"

namespace trainyard::lint::log_plugin {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-PLUGIN", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-PLUGIN",
            .severity = Severity::error,
            .title = "NCCL found no network plugin",
            .applies = "logs of NCCL",
            .why = "without aws-ofi-nccl NCCL takes sockets",
            .fix = "an image with the EFA installer and aws-ofi-nccl, in LD_LIBRARY_PATH",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_plugin

// libfabric chose another provider than efa.

#include "log_symptom.hpp"

namespace trainyard::lint::log_provider {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-PROVIDER", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-PROVIDER",
            .severity = Severity::error,
            .title = "libfabric chose another provider than efa",
            .applies = "logs of NCCL",
            .why = "the plugin then runs over TCP: slower than plain sockets",
            .fix = "EFA interfaces in the container, and no FI_PROVIDER but efa",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_provider

// Ranks run different versions of NCCL.

#include "log_symptom.hpp"

namespace trainyard::lint::log_versions {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-VERSIONS", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-VERSIONS",
            .severity = Severity::error,
            .title = "Ranks run different versions of NCCL",
            .applies = "logs of NCCL",
            .why = "ranks of different versions stop or hang at their first collective",
            .fix = "one image on every node",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_versions

// Ranks run different versions of aws-ofi-nccl.

#include "log_symptom.hpp"

namespace trainyard::lint::log_plugin_versions {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-PLUGIN-VERSIONS", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-PLUGIN-VERSIONS",
            .severity = Severity::warning,
            .title = "Ranks run different versions of aws-ofi-nccl",
            .applies = "logs of NCCL",
            .why = "nodes differ: one of them is set up in another way",
            .fix = "one image on every node",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_plugin_versions

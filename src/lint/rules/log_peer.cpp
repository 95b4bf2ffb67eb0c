// Another rank stopped first.

#include "log_symptom.hpp"

namespace trainyard::lint::log_peer {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-PEER", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-PEER",
            .severity = Severity::error,
            .title = "Another rank stopped first",
            .applies = "logs of NCCL",
            .why = "this log shows the victim only",
            .fix = "read the log of the rank that stopped first",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_peer

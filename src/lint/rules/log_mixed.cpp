// Some ranks use sockets and some libfabric.

#include "log_symptom.hpp"

namespace trainyard::lint::log_mixed {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-MIXED", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-MIXED",
            .severity = Severity::error,
            .title = "Some ranks use sockets and some libfabric",
            .applies = "logs of NCCL",
            .why = "the ranks cannot talk to each other, or all wait for the slowest",
            .fix = "the same image and interfaces on every node",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_mixed

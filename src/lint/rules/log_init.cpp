// Not all communicators were completed.

#include "log_symptom.hpp"

namespace trainyard::lint::log_init {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-INIT", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-INIT",
            .severity = Severity::error,
            .title = "Not all communicators were completed",
            .applies = "logs of NCCL",
            .why = "ranks wait for each other: the job hangs while it is paid",
            .fix = "the security group open to itself both ways, and the log of the missing ranks",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_init

// The device had no memory left for NCCL.

#include "log_symptom.hpp"

namespace trainyard::lint::log_memory {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-MEMORY", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-MEMORY",
            .severity = Severity::error,
            .title = "The device had no memory left for NCCL",
            .applies = "logs of NCCL",
            .why = "NCCL needs its buffers beside the model",
            .fix = "leave 2 GB a device for it",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_memory

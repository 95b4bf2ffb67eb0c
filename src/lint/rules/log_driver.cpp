// The driver is too old for the CUDA of the image.

#include "log_symptom.hpp"

namespace trainyard::lint::log_driver {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-DRIVER", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-DRIVER",
            .severity = Severity::error,
            .title = "The driver is too old for the CUDA of the image",
            .applies = "logs of NCCL",
            .why = "CUDA refuses to start",
            .fix = "a newer driver, or an image with an older CUDA",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_driver

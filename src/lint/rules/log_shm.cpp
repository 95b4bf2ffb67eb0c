// Shared memory could not be used.

#include "log_symptom.hpp"

namespace trainyard::lint::log_shm {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-SHM", found); }

}  // namespace

Rule rule() {
    return {.id = "NCCL-SHM",
            .severity = Severity::error,
            .title = "Shared memory could not be used",
            .applies = "logs of NCCL",
            .why = "ranks of a node exchange data through /dev/shm",
            .fix = "a memory-backed volume at /dev/shm, or --shm-size",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_shm

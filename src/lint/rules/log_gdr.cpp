// GPUDirect RDMA is off.

#include "log_symptom.hpp"

namespace trainyard::lint::log_gdr {

namespace {

void find(const Case& c, Found& found) { report_symptoms(c, "NCCL-GDR", found); }

}  // namespace

Rule rule() {
    return {
        .id = "NCCL-GDR",
        .severity = Severity::warning,
        .title = "GPUDirect RDMA is off",
        .applies = "logs of NCCL",
        .why = "every byte between nodes is copied through host memory",
        .fix = "a plugin and libfabric built with CUDA, a driver with DMA-BUF or nvidia-peermem",
        .source = "docs/reference/doctor.md",
        .find = find};
}

}  // namespace trainyard::lint::log_gdr

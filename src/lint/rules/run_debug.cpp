// Debug output that slows the run.

#include <fmt/format.h>

#include "environment.hpp"
#include "found.hpp"

namespace trainyard::lint::run_debug {

namespace {

void find(const Case& c, Found& found) {
    each_variable(c, [&](const EnvVar& v, const Job*, const Training*) {
        const std::string_view text = v.value.text;
        const bool is_blocking = v.name == "CUDA_LAUNCH_BLOCKING" && is_on(text);
        const bool is_detail = v.name == "TORCH_DISTRIBUTED_DEBUG" && text == "DETAIL";
        const bool is_trace = (v.name == "NCCL_DEBUG" && text == "TRACE") ||
                              (v.name == "NCCL_DEBUG_SUBSYS" && text == "ALL") ||
                              (v.name == "FI_LOG_LEVEL" && text == "debug");
        if (is_blocking) {
            found.at(name_of(v), "CUDA_LAUNCH_BLOCKING=1 makes every kernel wait for the last one");
        } else if (is_detail) {
            found.at(name_of(v),
                     "TORCH_DISTRIBUTED_DEBUG=DETAIL checks every collective with another one");
        } else if (is_trace) {
            found.at(name_of(v),
                     fmt::format("{}={} writes a line for every operation", v.name, v.value.text));
        }
    });
}

}  // namespace

Rule rule() {
    return {.id = "RUN-DEBUG",
            .severity = Severity::warning,
            .title = "A debug switch that slows every step",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "kernels and communication no longer overlap, or the log grows by gigabytes an "
                "hour: the GPUs are paid while they wait",
            .fix = "remove it once the fault is found; NCCL_DEBUG=INFO or WARN may stay",
            .source = "PyTorch documentation, torch.distributed; CUDA C++ Programming Guide",
            .find = find};
}

}  // namespace trainyard::lint::run_debug

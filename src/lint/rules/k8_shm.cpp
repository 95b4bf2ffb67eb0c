// The 64 MiB of /dev/shm that a container has by default.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::k8_shm {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        const bool many = job.gpus && job.gpus->value > 1;
        if (job.form != Job::Form::pod || job.spec == nullptr || !many) continue;
        const bool is_runtime = contains(job.object_kind, "TrainingRuntime");
        if (!job.is_training && !is_runtime) continue;
        if (is_true(get(job.spec, "hostIPC"))) continue;
        const doc::Node* volume = facts::volume_at(job, "/dev/shm");
        if (volume == nullptr) {
            found
                .at(job.gpus->where,
                    fmt::format("{} GPUs, but nothing is mounted at /dev/shm", job.gpus->value))
                .text = std::to_string(job.gpus->value);
        } else if (get(volume, "emptyDir") != nullptr &&
                   !said(volume, {"emptyDir", "medium"}).is("Memory")) {
            found.at(volume->where, "the volume at /dev/shm is on disk").fix =
                "emptyDir: {medium: Memory}";
        } else if (const Said limit = said(volume, {"emptyDir", "sizeLimit"})) {
            const auto size = facts::gibibytes(limit.text);
            if (size && *size < 1) {
                found
                    .at(limit,
                        fmt::format("/dev/shm of {} for {} GPUs", limit.text, job.gpus->value))
                    .fix =
                    "sizeLimit: 64Gi or none: it is taken from the pod's memory only if used";
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "K8-SHM",
            .severity = Severity::error,
            .title = "A multi-GPU pod without a memory-backed /dev/shm",
            .applies = "Kubernetes pods",
            .why =
                "a container's /dev/shm holds 64 MiB: DataLoader workers die of a bus "
                "error and NCCL fails to make its segments",
            .fix = "mount an emptyDir with medium: Memory at /dev/shm",
            .source = "pytorch/pytorch#16979; NVIDIA NCCL documentation, troubleshooting",
            .find = find};
}

}  // namespace trainyard::lint::k8_shm

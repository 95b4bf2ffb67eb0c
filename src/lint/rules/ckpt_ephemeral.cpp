// Checkpoints that go with the pod.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::ckpt_ephemeral {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::pod || !job.has_devices() || !job.is_training) continue;
        if (job.spec == nullptr) continue;
        const Said dir = facts::checkpoint_dir(job.words);
        if (!dir || is_open(dir.text) || dir.text.find("://") != std::string::npos) continue;
        // Something in the pod may copy them on.
        if (contains(job.document->text, "s3://") || contains(job.document->text, "rclone"))
            continue;
        if (contains(job.object_kind, "Runtime")) continue;
        const doc::Node* volume = facts::volume_at(job, dir.text);
        const bool is_relative = !dir.text.starts_with('/');
        const bool is_scratch = dir.text.starts_with("/tmp");
        const std::string disk = said(volume, {"hostPath", "path"}).text;
        const bool is_disk = disk.starts_with("/mnt/k8s-disks") || disk.starts_with("/local") ||
                             disk.starts_with("/tmp") || disk.starts_with("/scratch") ||
                             disk.starts_with("/nvme") || disk.starts_with("/opt/dlami/nvme");
        const bool is_local = volume != nullptr && (get(volume, "emptyDir") != nullptr || is_disk);
        // A path that nothing is mounted at may come from the image's own mounts: only sure cases.
        if (!is_local && !is_relative && !is_scratch) continue;
        if (!is_local && volume != nullptr) continue;
        found.at(dir, fmt::format("checkpoints go to {}, {}", dir.text,
                                  is_disk    ? "a disk of the node"
                                  : is_local ? "an emptyDir"
                                             : "inside the container"));
    }
}

}  // namespace

Rule rule() {
    return {.id = "CKPT-EPHEMERAL",
            .severity = Severity::error,
            .title = "Checkpoints are written inside the container or to node-local storage",
            .applies = "Kubernetes pods",
            .why =
                "they are lost with the pod or the node: every restart begins at step "
                "0, and all hours so far are paid again",
            .fix = "write to a shared volume (FSx for Lustre) or to S3",
            .source = "Kubernetes documentation, ephemeral volumes",
            .find = find};
}

}  // namespace trainyard::lint::ckpt_ephemeral

// Checkpoints written through a mounted bucket.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sto_s3_fuse {

namespace {

bool is_mountpoint(const Case& c, const doc::Node* volume) {
    if (said(volume, {"csi", "driver"}).is("s3.csi.aws.com")) return true;
    const Said claim = said(volume, {"persistentVolumeClaim", "claimName"});
    if (!claim) return false;
    std::string volume_name;
    for (const Document* d : c.objects("PersistentVolumeClaim")) {
        if (said(&d->root, {"metadata", "name"}).text == claim.text) {
            volume_name = said(&d->root, {"spec", "volumeName"}).text;
        }
    }
    for (const Document* d : c.objects("PersistentVolume")) {
        if (said(&d->root, {"metadata", "name"}).text == volume_name) {
            return said(&d->root, {"spec", "csi", "driver"}).is("s3.csi.aws.com");
        }
    }
    return false;
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::pod) continue;
        const Said dir = facts::checkpoint_dir(job.words);
        if (!dir) continue;
        const doc::Node* volume = facts::volume_at(job, dir.text);
        if (volume == nullptr || !is_mountpoint(c, volume)) continue;
        found
            .at(dir, fmt::format("checkpoints go to {}, a bucket mounted by Mountpoint for S3",
                                 dir.text))
            .related.push_back({volume->where, "the volume"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "STO-S3-FUSE",
            .severity = Severity::warning,
            .title = "Checkpoints go to a mounted S3 bucket",
            .applies = "Kubernetes pods with the Mountpoint CSI driver",
            .why =
                "Mountpoint for S3 writes new files from front to back only: checkpoint"
                " writers that seek, append or rename fail, after the first interval "
                "was paid for",
            .fix =
                "write to FSx for Lustre with an auto-exporting association, or through"
                " an S3 client (S3 connector for PyTorch)",
            .source = "awslabs/mountpoint-s3 doc/SEMANTICS.md, #1035",
            .find = find};
}

}  // namespace trainyard::lint::sto_s3_fuse

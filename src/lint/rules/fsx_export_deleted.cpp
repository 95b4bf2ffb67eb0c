// Deleting a local checkpoint deletes its copy in S3.

#include "found.hpp"

namespace trainyard::lint::fsx_export_deleted {

namespace {

void judge(const doc::Node* events, std::string_view path, Found& found) {
    const bool is_checkpoint = contains(path, "ckpt") || contains(path, "checkpoint") ||
                               contains(path, "output") || contains(path, "model");
    for (const Said& e : all_said(events)) {
        if (!e.is("DELETED")) continue;
        Finding& f = found.at(
            e, "deletions are exported to " + (path.empty() ? "the bucket" : std::string(path)));
        if (!is_checkpoint) f.severity = Severity::note;
    }
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        for (const doc::Node* s : each(get(&d->root, "SharedStorage"))) {
            for (const doc::Node* a :
                 each(get(s, {"FsxLustreSettings", "DataRepositoryAssociations"}))) {
                judge(get(a, "AutoExportPolicy"), said(a, {"DataRepositoryPath"}).text, found);
            }
        }
    }
    for (const Document* d : c.of_kind(Kind::fsx_request)) {
        judge(get(&d->root, {"S3", "AutoExportPolicy", "Events"}),
              said(&d->root, {"DataRepositoryPath"}).text, found);
    }
    for (const Resource& r : c.resources) {
        if (r.type == "AWS::FSx::DataRepositoryAssociation") {
            judge(get(r.body, {"S3", "AutoExportPolicy", "Events"}),
                  said(r.body, {"DataRepositoryPath"}).text, found);
        }
        if (r.type != "aws_fsx_data_repository_association") continue;
        for (const doc::Node* s3 : each(get(r.body, "s3"))) {
            for (const doc::Node* policy : each(get(s3, "auto_export_policy"))) {
                judge(get(policy, "events"), said(r.body, {"data_repository_path"}).text, found);
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "FSX-EXPORT-DELETED",
            .severity = Severity::warning,
            .title = "Automatic export that also exports deletions",
            .applies = "ParallelCluster, Terraform, CloudFormation, FSx requests",
            .why =
                "pruning old checkpoints on the file system removes them from the "
                "bucket, too: the only durable copy is gone",
            .fix = "AutoExportPolicy NEW and CHANGED only",
            .source = "FSx for Lustre user guide, automatic export",
            .find = find};
}

}  // namespace trainyard::lint::fsx_export_deleted

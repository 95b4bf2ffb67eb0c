// A file system that lists its bucket while the stack waits.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::fsx_importpath {

namespace {

void report(const Said& path, Found& found) {
    if (path) found.at(path, fmt::format("ImportPath {} is listed during creation", path.text));
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        for (const doc::Node* s : each(get(&d->root, "SharedStorage"))) {
            report(said(s, {"FsxLustreSettings", "ImportPath"}), found);
        }
    }
    for (const Resource& r : c.resources) {
        if (r.type == "AWS::FSx::FileSystem") {
            report(said(r.body, {"LustreConfiguration", "ImportPath"}), found);
        }
    }
    for (const Document* d : c.of_kind(Kind::fsx_request)) {
        report(said(&d->root, {"LustreConfiguration", "ImportPath"}), found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "FSX-IMPORTPATH",
            .severity = Severity::warning,
            .title = "ImportPath imports the whole bucket while the stack is made",
            .applies = "ParallelCluster, CloudFormation, FSx requests",
            .why =
                "with millions of objects the import outlasts the stack's timeout: "
                "everything is rolled back after an hour of billing",
            .fix =
                "make the file system first and link the bucket with "
                "DataRepositoryAssociations",
            .source =
                "aws/aws-parallelcluster#4211; FSx for Lustre user guide, data "
                "repositories",
            .find = find};
}

}  // namespace trainyard::lint::fsx_importpath

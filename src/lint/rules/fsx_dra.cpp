// Associations that FSx does not take.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::fsx_dra {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        for (const doc::Node* s : each(get(&d->root, "SharedStorage"))) {
            const doc::Node* settings = get(s, "FsxLustreSettings");
            const doc::Node* list = get(settings, "DataRepositoryAssociations");
            if (list == nullptr) continue;
            for (const std::string_view key : {"ImportPath", "ExportPath"}) {
                if (const Said path = said(settings, {key})) {
                    found.at(path, std::string(key) + " does not go with associations");
                }
            }
            if (said(settings, {"DeploymentType"}).is("SCRATCH_1")) {
                found.at(said(settings, {"DeploymentType"}), "SCRATCH_1 takes no associations");
            }
            if (list->items().size() > 8) {
                found.at(key_said(*list, "DataRepositoryAssociations"),
                         fmt::format("{} associations, 8 is the most", list->items().size()));
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "FSX-DRA",
            .severity = Severity::error,
            .title =
                "Data repository associations beside ImportPath, on scratch storage, or"
                " too many",
            .applies = "ParallelCluster",
            .why = "the stack fails and is rolled back after the file system was made",
            .fix =
                "at most 8 associations, no ImportPath or ExportPath beside them, "
                "DeploymentType PERSISTENT_2",
            .source = "FSx for Lustre user guide, data repository associations",
            .find = find};
}

}  // namespace trainyard::lint::fsx_dra

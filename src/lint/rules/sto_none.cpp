// A cluster for training without storage that its nodes share.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sto_none {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        if (get(&d->root, "SharedStorage") != nullptr) continue;
        for (const Pool& p : c.pools) {
            const Said type = facts::accelerated(c, p.types);
            const std::int64_t max = p.max ? p.max->value : 10;
            if (p.document != d || !type || max < 2) continue;
            found.at(type, fmt::format("up to {}x {} share no storage", max, type.text));
            break;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "STO-NONE",
            .severity = Severity::note,
            .title = "Several accelerated nodes and no shared storage",
            .applies = "ParallelCluster",
            .why =
                "data and checkpoints then go over the head node's NFS home or must be "
                "staged to S3 by the job",
            .fix = "SharedStorage with FsxLustre and a data repository association",
            .source = "ParallelCluster documentation, SharedStorage",
            .find = find};
}

}  // namespace trainyard::lint::sto_none

// One EBS volume that feeds a whole cluster.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sto_ebs_data {

namespace {

bool is_for_programs(std::string_view dir) {
    return is_one_of(dir, {"/home", "/apps", "/opt", "/shared", "/software", "/tools"});
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        std::int64_t nodes = 0;
        Said type;
        for (const Pool& p : c.pools) {
            const Said t = facts::accelerated(c, p.types);
            if (p.document != d || !t) continue;
            const std::int64_t max = p.max ? p.max->value : 10;
            if (max > nodes) type = t;
            nodes = std::max(nodes, max);
        }
        if (nodes < 2) continue;
        const auto storage = each(get(&d->root, "SharedStorage"));
        const bool has_lustre = std::any_of(storage.begin(), storage.end(), [](const auto* s) {
            return said(s, {"StorageType"}).text.starts_with("Fsx") ||
                   said(s, {"StorageType"}).is("FileCache");
        });
        for (const doc::Node* s : storage) {
            const Said kind = said(s, {"StorageType"});
            if (!kind.is("Ebs") || has_lustre) continue;
            if (is_for_programs(said(s, {"MountDir"}).text)) continue;
            found.at(kind, fmt::format("one EBS volume, exported by the head node, feeds {}x {}",
                                       nodes, type.text));
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "STO-EBS-DATA",
            .severity = Severity::warning,
            .title = "Training data on a shared EBS volume",
            .applies = "ParallelCluster",
            .why =
                "the head node exports the volume over NFS: 125 MB/s by default for all"
                " nodes together, and the GPUs wait for input",
            .fix =
                "FsxLustre with a data repository association for data, EphemeralVolume"
                " (local NVMe) for scratch",
            .source =
                "ParallelCluster documentation, SharedStorage Ebs; awslabs/awsome-"
                "distributed-ai#200",
            .find = find};
}

}  // namespace trainyard::lint::sto_ebs_data

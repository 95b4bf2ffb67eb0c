// Local NVMe that the configuration does not name.

#include <fmt/format.h>

#include <set>

#include "facts.hpp"
#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::pc_ephemeral {

namespace {

void find(const Case& c, Found& found) {
    std::set<const doc::Node*> seen;
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::parallelcluster) continue;
        const Said type = facts::accelerated(c, p.types);
        const catalog::Instance* i = type ? c.instance(type.text) : nullptr;
        if (i == nullptr || !i->local_nvme) continue;
        if (get(p.outer, {"ComputeSettings", "LocalStorage", "EphemeralVolume"}) != nullptr) {
            continue;
        }
        if (!seen.insert(p.outer).second) continue;
        found.at(type, fmt::format("each {} has {} of NVMe, and the queue names no EphemeralVolume",
                                   type.text, format_bytes(*i->local_nvme)));
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-EPHEMERAL",
            .severity = Severity::note,
            .title = "The local NVMe drives are not named",
            .applies = "ParallelCluster queues with accelerators",
            .why =
                "the drives are paid for with the node and are its fastest storage; unnamed they "
                "are at /scratch, and jobs that do not know it read from the network",
            .fix =
                "ComputeSettings: {LocalStorage: {EphemeralVolume: {MountDir: /scratch}}}, and "
                "stage data and checkpoints there",
            .source = "ParallelCluster documentation, LocalStorage EphemeralVolume",
            .find = find};
}

}  // namespace trainyard::lint::pc_ephemeral

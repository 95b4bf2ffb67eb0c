// A Capacity Block queue whose size can change.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::cap_cb_count {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::parallelcluster || !p.purchase.is("capacity-block")) continue;
        const std::int64_t min = p.min ? p.min->value : 0;
        const std::int64_t max = p.max ? p.max->value : 10;
        if (min == max && min > 0) continue;
        const Location at = p.min ? p.min->where : p.where;
        Finding& f =
            found.at(at, fmt::format("CAPACITY_BLOCK with MinCount {} and MaxCount {}", min, max));
        f.text = p.min ? std::to_string(min) : "";
        if (!p.types.empty()) f.waste = price_of(c, p.types.front().text, max - min);
        if (p.min && max > 0) {
            f.edits.push_back({p.min->where, std::to_string(min), std::to_string(max)});
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "CAP-CB-COUNT",
            .severity = Severity::error,
            .title = "CAPACITY_BLOCK needs MinCount = MaxCount above zero",
            .applies = "ParallelCluster",
            .why =
                "nodes of a block are static: ParallelCluster refuses the "
                "configuration, or paid hours of the block stay unused",
            .fix = "set MinCount and MaxCount to the number of instances in the block",
            .source = "aws/aws-parallelcluster#5817, CapacityBlock validators",
            .holds_for = "ParallelCluster 3.8 and later",
            .find = find};
}

}  // namespace trainyard::lint::cap_cb_count

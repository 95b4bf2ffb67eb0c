// Allocation strategies that the purchase does not have.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::pc_allocation {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        for (const doc::Node* q : each(get(&d->root, {"Scheduling", "SlurmQueues"}))) {
            const Said strategy = said(q, {"AllocationStrategy"});
            const Said type = said(q, {"CapacityType"});
            if (!strategy) continue;
            const bool is_block = type.is("CAPACITY_BLOCK");
            const bool is_demand = !type || type.is("ONDEMAND");
            if (is_block ||
                (is_demand && !is_one_of(strategy.text, {"lowest-price", "prioritized"}))) {
                found.at(strategy, fmt::format("AllocationStrategy {} with CapacityType {}",
                                               strategy.text, type ? type.text : "ONDEMAND"));
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-ALLOCATION",
            .severity = Severity::error,
            .title = "An AllocationStrategy that does not go with the CapacityType",
            .applies = "ParallelCluster",
            .why = "the configuration is refused",
            .fix = "lowest-price for ONDEMAND; none for CAPACITY_BLOCK",
            .source = "aws/aws-parallelcluster cli/src/pcluster/validators",
            .find = find};
}

}  // namespace trainyard::lint::pc_allocation

// A head node that is larger than its work.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::cost_head {

namespace {

/// More than this serves clusters of thousands of nodes only.
constexpr int kEnough = 32;
constexpr std::string_view kSuggested = "m7i.2xlarge";

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        const Said type = said(&d->root, {"HeadNode", "InstanceType"});
        const catalog::Instance* i = c.instance(type.text);
        if (i == nullptr || (i->vcpu <= kEnough && i->accelerator.empty())) continue;
        Finding& f = found.at(
            type, i->accelerator.empty()
                      ? fmt::format("the head node is {} with {} vCPUs", type.text, i->vcpu)
                      : fmt::format("the head node is {} with {} accelerators", type.text,
                                    i->accelerators));
        f.waste = c.price(type.text);
        const auto enough = c.price(kSuggested);
        if (f.waste && enough && *enough < *f.waste) *f.waste -= *enough;
    }
}

}  // namespace

Rule rule() {
    return {.id = "COST-HEAD",
            .severity = Severity::warning,
            .title = "An oversized head node",
            .applies = "ParallelCluster",
            .why = "the head node runs all day, with or without jobs, and only schedules",
            .fix =
                "4 to 16 vCPUs are enough for Slurm and a shared home, for example "
                "m7i.2xlarge",
            .source =
                "ParallelCluster documentation, best practices for the head node; "
                "data/catalog/prices.csv",
            .find = find};
}

}  // namespace trainyard::lint::cost_head

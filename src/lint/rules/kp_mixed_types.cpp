// A pool from which one job may get nodes of different kinds.

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "found.hpp"

namespace trainyard::lint::kp_mixed_types {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter) continue;
        std::set<std::string> families;
        Said second;
        for (const Said& t : p.types) {
            const catalog::Instance* i = c.instance(t.text);
            if (i == nullptr || i->efa_interfaces < 2 || i->accelerator.empty()) continue;
            if (families.insert(i->family).second && families.size() == 2) second = t;
        }
        if (families.size() < 2) continue;
        const bool all_pinned =
            !c.jobs.empty() && std::all_of(c.jobs.begin(), c.jobs.end(),
                                           [](const Job& j) { return j.types.size() == 1; });
        if (all_pinned) continue;
        found.at(second.where, fmt::format("NodePool {} may give one job nodes of {}", p.name,
                                           fmt::join(families, " and ")));
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-MIXED-TYPES",
            .severity = Severity::warning,
            .title = "A NodePool mixes instance types that cannot train together",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "one job then runs on different GPUs or EFA generations: all wait for "
                "the slowest, and EFA between P4d and other types does not work",
            .fix =
                "one NodePool for each type, or pin node.kubernetes.io/instance-type in"
                " the job",
            .source = "EC2 user guide, EFA limitations",
            .find = find};
}

}  // namespace trainyard::lint::kp_mixed_types

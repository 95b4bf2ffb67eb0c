// A NodePool whose limit is below what the jobs need.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_limits {

namespace {

/// A pool without a limit holds any number.
std::int64_t fit_together(const Case& c, const std::vector<const Pool*>& pools) {
    std::int64_t all = 0;
    for (const Pool* p : pools) {
        const Said type = facts::accelerated(c, p->types);
        const auto limit = type ? facts::node_limit(*p, *c.instance(type.text)) : std::nullopt;
        all += limit ? limit->nodes : 1 << 20;
    }
    return all;
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter) continue;
        const Said type = facts::accelerated(c, p.types);
        if (!type) continue;
        const catalog::Instance& i = *c.instance(type.text);
        const auto limit = facts::node_limit(p, i);
        if (!limit) continue;
        std::int64_t needed = 1;
        std::int64_t together = 0;  ///< nodes of all pools that the job may use
        std::string who = "one node";
        Location where;
        for (const Job& job : c.jobs) {
            const auto& pools = c.pools_of(job);
            const bool runs_here = std::find(pools.begin(), pools.end(), &p) != pools.end();
            const std::int64_t devices = job.gpus      ? job.gpus->value
                                         : job.neurons ? job.neurons->value
                                                       : 0;
            if (!runs_here || !job.nodes || devices < i.accelerators) continue;
            if (job.nodes->value <= needed) continue;
            needed = job.nodes->value;
            together = fit_together(c, pools);
            who = fmt::format("{} of {} nodes", job.name, needed);
            where = job.nodes->where;
        }
        if (needed <= std::max(limit->nodes, together)) continue;
        Finding& f = found.at(
            limit->said,
            fmt::format("NodePool {} is limited to {}: {}, that is {} x {}, but "
                        "{} needs more",
                        p.name, limit->key, limit->said.text, limit->nodes, type.text, who));
        if (where.line > 0) f.related.push_back({where, "the job"});
        f.waste = price_of(c, type.text, limit->nodes);
        f.fix = fmt::format("at least {} x {}: cpu {}, nvidia.com/gpu {}", needed, type.text,
                            needed * i.vcpu, needed * i.accelerators);
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-LIMITS",
            .severity = Severity::error,
            .title = "The limits of the NodePool are too small for the job",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "the nodes above the limit never start, and those that did start wait "
                "for them and are billed",
            .fix = "raise the limit to what the job needs",
            .source = "aws/karpenter-provider-aws#8068; data/catalog/instances.csv",
            .find = find};
}

}  // namespace trainyard::lint::kp_limits

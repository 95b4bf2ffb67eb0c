// Several gangs on a pool that holds one, and nothing that admits them whole.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::k8_gang {

namespace {

std::int64_t nodes_that_fit(const Pool& p, const catalog::Instance& i) {
    std::int64_t fit = 1 << 20;
    const auto consider = [&](std::string_view key, std::int64_t per_node) {
        const auto limit = count(p.node, {"spec", "limits", key});
        if (limit && per_node > 0) fit = std::min(fit, limit->value / per_node);
    };
    consider("nvidia.com/gpu", i.accelerators);
    consider("aws.amazon.com/neuron", i.accelerators);
    consider("cpu", i.vcpu);
    if (p.max) fit = std::min(fit, p.max->value);
    return fit;
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        if (!type) continue;
        const catalog::Instance& i = *c.instance(type.text);
        const std::int64_t fit = nodes_that_fit(p, i);
        std::int64_t wanted = 0;
        const Job* previous = nullptr;
        for (const Job& job : c.jobs) {
            const auto& pools = c.pools_of(job);
            const bool runs_here = std::find(pools.begin(), pools.end(), &p) != pools.end();
            const bool is_whole = job.gpus && job.gpus->value * 2 > i.accelerators;
            if (!runs_here || !job.is_multi_node() || !is_whole || facts::has_gang(job)) continue;
            wanted += job.nodes->value;
            if (previous != nullptr && previous->object != job.object && wanted > fit &&
                job.nodes->value <= fit) {
                Finding& f = found.at(
                    job.where, fmt::format("jobs {} and {} need {} nodes together, the pool {} "
                                           "holds {}: each may hold a part and wait",
                                           previous->name, job.name, wanted, p.name, fit));
                f.related.push_back({previous->where, "the other job"});
                f.waste = price_of(c, type.text, fit);
                break;
            }
            previous = &job;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "K8-GANG",
            .severity = Severity::warning,
            .title = "Several multi-node jobs share a limited pool without gang admission",
            .applies = "Kubernetes jobs beside a NodePool with limits",
            .why =
                "each job gets half of its nodes and waits for the rest: nobody makes "
                "progress and all nodes are billed",
            .fix = "admit jobs whole: Kueue, Volcano or the coscheduling plugin",
            .source = "kubernetes-sigs/kueue#2796",
            .find = find};
}

}  // namespace trainyard::lint::k8_gang

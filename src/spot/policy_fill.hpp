#pragma once
// Taking nodes from pools in an order: what most policies end with.

#include <algorithm>

#include "trainyard/spot/policy.hpp"

namespace trainyard::spot {

/// Keeps what is held of the purchase type, up to `count`: a move costs a restart, and an EC2 fleet
/// that maintains its capacity keeps what runs. Returns how many.
int keep(const View& view, Purchase purchase, int count, Decision& decision);

/// Adds up to `count` nodes of the purchase type, from the best pool first; `better(a, b)`: a
/// before b. Returns how many there were.
template <typename Better>
int take(const View& view, Purchase purchase, int count, Decision& decision, Better better) {
    int got = 0;
    while (got < count) {
        std::size_t best = view.pools.size();
        for (std::size_t i = 0; i < view.pools.size(); ++i) {
            const PoolView& pool = view.pools[i];
            if (pool.purchase != purchase || pool.available <= decision.nodes[i]) continue;
            if (best == view.pools.size() || better(pool, view.pools[best])) best = i;
        }
        if (best == view.pools.size()) break;
        const int more = std::min(view.pools[best].available - decision.nodes[best], count - got);
        decision.nodes[best] += more;
        got += more;
    }
    return got;
}

inline bool cheaper(const PoolView& a, const PoolView& b) {
    return a.usd_per_hour < b.usd_per_hour;
}

/// Held nodes first, then the cheapest.
int fill(const View& view, Purchase purchase, int count, Decision& decision);

/// All nodes from spot by `better`; none if they are too few to run: idle nodes cost money.
template <typename Better>
void spot_gang(const View& view, Decision& decision, Better better) {
    int got = keep(view, Purchase::spot, view.nodes, decision);
    got += take(view, Purchase::spot, view.nodes - got, decision, better);
    if (got < view.min_nodes) std::fill(decision.nodes.begin(), decision.nodes.end(), 0);
}

/// How deep a pool looks from outside: EC2 publishes no depth, so what a launch would get (as far
/// as it is needed), then for how long it has been so, since the hazard falls with age.
struct Depth {
    int nodes = 0;
    Seconds since;
    auto operator<=>(const Depth&) const = default;
};
Depth depth_of(const PoolView& pool, int needed);

/// price-capacity-optimized among the pools that `allowed` admits; see
/// policy_price_capacity_optimized.cpp.
template <typename Allowed>
void price_capacity_gang(const View& view, Decision& decision, Allowed allowed) {
    Depth deepest;
    for (const PoolView& pool : view.pools) {
        if (pool.purchase == Purchase::spot && allowed(pool))
            deepest = std::max(deepest, depth_of(pool, view.nodes));
    }
    const auto deep = [&](const PoolView& pool) {
        const Depth depth = depth_of(pool, view.nodes);
        return allowed(pool) && depth.nodes >= deepest.nodes && depth.since >= 0.5 * deepest.since;
    };
    spot_gang(view, decision, [&](const PoolView& a, const PoolView& b) {
        if (deep(a) != deep(b)) return deep(a);
        if (allowed(a) != allowed(b)) return allowed(a);
        return cheaper(a, b);
    });
}

}  // namespace trainyard::spot

#include "policy_fill.hpp"

namespace trainyard::spot {

int keep(const View& view, Purchase purchase, int count, Decision& decision) {
    int got = 0;
    for (std::size_t i = 0; i < view.pools.size() && got < count; ++i) {
        const PoolView& pool = view.pools[i];
        if (pool.purchase != purchase || pool.held == 0) continue;
        const int kept = std::min({pool.held, pool.available, count - got});
        decision.nodes[i] += kept;
        got += kept;
    }
    return got;
}

int fill(const View& view, Purchase purchase, int count, Decision& decision) {
    const int kept = keep(view, purchase, count, decision);
    return kept + take(view, purchase, count - kept, decision, cheaper);
}

Depth depth_of(const PoolView& pool, int needed) {
    return {std::min(pool.available, needed), pool.since};
}

}  // namespace trainyard::spot

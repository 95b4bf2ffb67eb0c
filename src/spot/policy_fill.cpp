#include "policy_fill.hpp"

#include <algorithm>

namespace trainyard::spot {

void clear(Decision& decision) { std::fill(decision.nodes.begin(), decision.nodes.end(), 0); }

int fill(const View& view, Purchase purchase, int count, Decision& decision) {
    int got = 0;
    for (std::size_t i = 0; i < view.pools.size() && got < count; ++i) {
        const PoolView& pool = view.pools[i];
        if (pool.purchase != purchase || pool.held == 0) continue;
        const int keep = std::min({pool.held, pool.available, count - got});
        decision.nodes[i] += keep;
        got += keep;
    }
    while (got < count) {
        std::size_t best = view.pools.size();
        for (std::size_t i = 0; i < view.pools.size(); ++i) {
            const PoolView& pool = view.pools[i];
            if (pool.purchase != purchase || pool.available <= decision.nodes[i]) continue;
            if (best == view.pools.size() || pool.usd_per_hour < view.pools[best].usd_per_hour)
                best = i;
        }
        if (best == view.pools.size()) break;
        const int take = std::min(view.pools[best].available - decision.nodes[best], count - got);
        decision.nodes[best] += take;
        got += take;
    }
    return got;
}

}  // namespace trainyard::spot

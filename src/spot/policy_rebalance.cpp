// Capacity Rebalancing of EC2 Auto Scaling and of fleets that maintain capacity, with
// launch-before-terminate: when EC2 recommends it, another pool takes over, chosen as by
// price-capacity-optimized. Where no other pool has the capacity the nodes stay.

#include "policy_fill.hpp"

namespace trainyard::spot {
namespace {

class Rebalance final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    bool reads_rebalance() const override { return true; }
    void decide(const View& view, Decision& decision) override {
        bool told = false;
        int elsewhere = 0;
        for (const PoolView& pool : view.pools) {
            if (pool.purchase != Purchase::spot) continue;
            told = told || pool.rebalance;
            if (!pool.rebalance) elsewhere += std::min(pool.available, view.nodes);
        }
        if (!told || elsewhere < view.nodes) {
            price_capacity_gang(view, decision, [](const PoolView&) { return true; });
            return;
        }
        // Nothing is kept of the pools that are to be left.
        for (std::size_t i = 0; i < view.pools.size(); ++i) {
            const PoolView& pool = view.pools[i];
            if (pool.purchase != Purchase::spot || pool.rebalance || pool.held == 0) continue;
            decision.nodes[i] = std::min(pool.held, pool.available);
        }
        int got = 0;
        for (const int nodes : decision.nodes) got += nodes;
        take(view, Purchase::spot, view.nodes - got, decision,
             [](const PoolView& a, const PoolView& b) {
                 return a.rebalance != b.rebalance ? !a.rebalance : cheaper(a, b);
             });
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<Rebalance>() : nullptr;
}

}  // namespace

PolicyInfo rebalance_policy();
PolicyInfo rebalance_policy() {
    return {"rebalance", "moves to another spot pool when EC2 sends a rebalance recommendation",
            "Amazon EC2 Auto Scaling user guide, Capacity Rebalancing", make};
}

}  // namespace trainyard::spot

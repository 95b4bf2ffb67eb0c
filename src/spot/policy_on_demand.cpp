// On-demand only: the anchor that every other policy must beat.

#include <limits>

#include "trainyard/spot/policy.hpp"

namespace trainyard::spot {
namespace {

class OnDemand final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        int missing = view.nodes;
        for (std::size_t i = 0; i < view.pools.size(); ++i) {
            const PoolView& pool = view.pools[i];
            if (pool.purchase != Purchase::on_demand) continue;
            const int take = pool.available < missing ? pool.available : missing;
            decision.nodes[i] = take;
            missing -= take;
        }
        decision.ask_again = std::numeric_limits<double>::infinity() * kSecond;
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<OnDemand>() : nullptr;
}

}  // namespace

PolicyInfo on_demand_policy();
PolicyInfo on_demand_policy() {
    return {"on_demand", "on-demand nodes only, from start to end", "anchor", make};
}

}  // namespace trainyard::spot

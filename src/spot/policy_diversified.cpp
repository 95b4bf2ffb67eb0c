// diversified: the same number from every pool with capacity. Worst for tightly coupled training:
// the loss of any pool stops the job.

#include "policy_fill.hpp"

namespace trainyard::spot {
namespace {

class Diversified final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        int left = view.nodes;
        for (bool more = true; left > 0 && more;) {
            more = false;
            for (std::size_t i = 0; i < view.pools.size() && left > 0; ++i) {
                const PoolView& pool = view.pools[i];
                if (pool.purchase != Purchase::spot || pool.available <= decision.nodes[i])
                    continue;
                ++decision.nodes[i];
                --left;
                more = true;
            }
        }
        if (view.nodes - left < view.min_nodes)
            std::fill(decision.nodes.begin(), decision.nodes.end(), 0);
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<Diversified>() : nullptr;
}

}  // namespace

PolicyInfo diversified_policy();
PolicyInfo diversified_policy() {
    return {"diversified", "EC2 Fleet diversified: spot spread evenly over all pools",
            "Amazon EC2 user guide, allocation strategies for Spot Instances "
            "(ec2-fleet-allocation-strategy)",
            make};
}

}  // namespace trainyard::spot

// capacity-optimized: the pool with the most spare capacity, whatever its price. EC2 knows the
// depth and does not publish it; depth_of says what stands for it here.

#include "policy_fill.hpp"

namespace trainyard::spot {
namespace {

class CapacityOptimized final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        const int needed = view.nodes;
        spot_gang(view, decision, [needed](const PoolView& a, const PoolView& b) {
            return depth_of(a, needed) > depth_of(b, needed);
        });
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<CapacityOptimized>() : nullptr;
}

}  // namespace

PolicyInfo capacity_optimized_policy();
PolicyInfo capacity_optimized_policy() {
    return {"capacity_optimized", "EC2 Fleet capacity-optimized: spot from the deepest pool",
            "Amazon EC2 user guide, allocation strategies for Spot Instances "
            "(ec2-fleet-allocation-strategy)",
            make};
}

}  // namespace trainyard::spot

// price-capacity-optimized, which AWS recommends: the pools with the most spare capacity first, of
// these the cheapest. The rule is not published; here it is a filter in two stages: pools that can
// give every node (else the deepest) and have done so for at least half as long as the
// longest-standing of them; then price.

#include "policy_fill.hpp"

namespace trainyard::spot {
namespace {

class PriceCapacityOptimized final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        price_capacity_gang(view, decision, [](const PoolView&) { return true; });
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<PriceCapacityOptimized>() : nullptr;
}

}  // namespace

PolicyInfo price_capacity_optimized_policy();
PolicyInfo price_capacity_optimized_policy() {
    return {"price_capacity_optimized",
            "EC2 Fleet price-capacity-optimized: the cheapest of the deepest spot pools",
            "Amazon EC2 user guide, allocation strategies for Spot Instances "
            "(ec2-fleet-allocation-strategy)",
            make};
}

}  // namespace trainyard::spot

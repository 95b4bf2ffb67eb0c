// lowest-price, the default of the EC2 Fleet API: the cheapest pool with capacity, whatever its
// depth. AWS: "highest risk of interruption". What runs is kept until EC2 takes it.

#include "policy_fill.hpp"

namespace trainyard::spot {
namespace {

class LowestPrice final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        spot_gang(view, decision, cheaper);
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<LowestPrice>() : nullptr;
}

}  // namespace

PolicyInfo lowest_price_policy();
PolicyInfo lowest_price_policy() {
    return {"lowest_price", "EC2 Fleet lowest-price: spot from the cheapest pool that has capacity",
            "Amazon EC2 user guide, allocation strategies for Spot Instances "
            "(ec2-fleet-allocation-strategy)",
            make};
}

}  // namespace trainyard::spot

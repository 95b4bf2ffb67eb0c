// Spot only: as many nodes of the full size as the spot pools have, cheapest first; none while they
// are too few to run, since idle nodes cost money and capacity comes back as a whole.

#include "policy_fill.hpp"

namespace trainyard::spot {
namespace {

class SpotOnly final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        spot_gang(view, decision, cheaper);
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<SpotOnly>() : nullptr;
}

}  // namespace

PolicyInfo spot_only_policy();
PolicyInfo spot_only_policy() {
    return {"spot_only", "spot nodes only, waiting where there are none", "anchor", make};
}

}  // namespace trainyard::spot

// A fixed share of spot, the rest on capacity that EC2 does not take back: the mixed instances
// policy of EC2 Auto Scaling (OnDemandPercentageAboveBaseCapacity). The spot part waits where there
// is none; it is not replaced by on-demand nodes.

#include <cmath>
#include <limits>

#include "policy_fill.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {
namespace {

class Share final : public Policy {
  public:
    explicit Share(double spot) : spot_(spot) {}
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        const int spot = static_cast<int>(std::lround(spot_ * view.nodes));
        int firm = view.nodes - spot;
        // What is paid for already comes first.
        for (const Purchase p : {Purchase::capacity_block, Purchase::reserved, Purchase::on_demand})
            firm -= fill(view, p, firm, decision);
        const int got = view.nodes - spot - firm + fill(view, Purchase::spot, spot, decision);
        if (got < view.min_nodes) std::fill(decision.nodes.begin(), decision.nodes.end(), 0);
    }

  private:
    double spot_;
};

std::unique_ptr<Policy> make(std::string_view argument) {
    const auto share = parse_number(argument);
    if (!share || !(*share >= 0 && *share <= 1)) return nullptr;
    return std::make_unique<Share>(*share);
}

}  // namespace

PolicyInfo share_policy();
PolicyInfo share_policy() {
    return {"share", "share:0.7: that share of the nodes on spot, the rest on demand",
            "Amazon EC2 Auto Scaling user guide, mixed instances groups", make};
}

}  // namespace trainyard::spot

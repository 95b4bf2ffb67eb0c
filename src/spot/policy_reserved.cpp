// What is paid for already, and on demand where that is not enough or has ended: how a plan on a
// Capacity Block or a commitment is meant to run.

#include "policy_fill.hpp"

namespace trainyard::spot {
namespace {

class Reserved final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        int got = fill(view, Purchase::capacity_block, view.nodes, decision);
        got += fill(view, Purchase::reserved, view.nodes - got, decision);
        got += fill(view, Purchase::on_demand, view.nodes - got, decision);
        if (got < view.min_nodes) std::fill(decision.nodes.begin(), decision.nodes.end(), 0);
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<Reserved>() : nullptr;
}

}  // namespace

PolicyInfo reserved_policy();
PolicyInfo reserved_policy() {
    return {"reserved", "reserved nodes and Capacity Blocks, then on demand", "anchor", make};
}

}  // namespace trainyard::spot

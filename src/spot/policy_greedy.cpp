// Greedy: spot whenever there is some, on demand from the point of no return.

#include "uniform_progress.hpp"

namespace trainyard::spot {
namespace {

class Greedy final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        const Moment moment = moment_of(view);
        hold(view, greedy(moment), decision);
        decision.ask_again = next_question(moment, true);
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<Greedy>() : nullptr;
}

}  // namespace

PolicyInfo greedy_policy();
PolicyInfo greedy_policy() {
    return {"greedy", "spot whenever there is some, on demand when no slack is left",
            "baseline of Wu et al., Can't Be Late, NSDI 2024", make};
}

}  // namespace trainyard::spot

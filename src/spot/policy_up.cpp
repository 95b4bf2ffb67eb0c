// Uniform Progress: on demand when progress falls behind the straight line to the deadline, back to
// spot when it is two restarts ahead of it (hysteresis).

#include "uniform_progress.hpp"

namespace trainyard::spot {
namespace {

class UniformProgress final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        const Moment moment = moment_of(view);
        hold(view, uniform_progress(moment, true), decision);
        decision.ask_again = next_question(moment, false);
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<UniformProgress>() : nullptr;
}

}  // namespace

PolicyInfo up_policy();
PolicyInfo up_policy() {
    return {"up", "Uniform Progress: on demand only while behind the line to the deadline",
            "Wu et al., Can't Be Late, NSDI 2024", make};
}

}  // namespace trainyard::spot

// Uniform Progress without its hysteresis: back to spot as soon as there is some.

#include "uniform_progress.hpp"

namespace trainyard::spot {
namespace {

class WithoutHysteresis final : public Policy {
  public:
    void begin(const View& /*first*/) override {}
    void decide(const View& view, Decision& decision) override {
        const Moment moment = moment_of(view);
        hold(view, uniform_progress(moment, false), decision);
        decision.ask_again = next_question(moment, false);
    }
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<WithoutHysteresis>() : nullptr;
}

}  // namespace

PolicyInfo up_nohyst_policy();
PolicyInfo up_nohyst_policy() {
    return {"up_nohyst", "Uniform Progress without hysteresis",
            "Wu et al., Can't Be Late, NSDI 2024", make};
}

}  // namespace trainyard::spot

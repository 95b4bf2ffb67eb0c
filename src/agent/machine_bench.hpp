#pragma once
// For tests: the machine with a hand on the clock.

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "trainyard/agent/machine.hpp"

namespace trainyard::agent {

/// The first T among the variants, which is removed; nullopt: there is none.
template <typename T, typename Variant>
std::optional<T> take_first(std::vector<Variant>& from) {
    for (auto at = from.begin(); at != from.end(); ++at) {
        if (auto* found = std::get_if<T>(&*at)) {
            T taken = *found;
            from.erase(at);
            return taken;
        }
    }
    return std::nullopt;
}

/// What the machine asked for is kept until it is taken.
class MachineBench {
  public:
    explicit MachineBench(Policy policy, Memory memory = {})
        : machine(policy, std::move(memory), 1) {}

    void feed(const Event& event) {
        for (Action& a : machine.handle(event, time)) actions.push_back(std::move(a));
    }
    template <typename T>
    std::optional<T> take() {
        return take_first<T>(actions);
    }

    Machine machine;
    Instant time = 1000 * kSecond;
    std::vector<Action> actions;
};

}  // namespace trainyard::agent

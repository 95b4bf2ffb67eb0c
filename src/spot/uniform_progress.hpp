#pragma once
// The rules of Uniform Progress (Wu et al., "Can't Be Late", NSDI 2024) and of the greedy baseline
// for one gang, as the simulators of the paper and of SkyNomad (NSDI 2027) play them.
//
// Whole microseconds, and comparisons as products, so a tie is a tie whatever the order of sums.

#include <cstdint>
#include <optional>

#include "trainyard/spot/policy.hpp"

namespace trainyard::spot {

using Micros = std::int64_t;
/// Work, or a restart, of less than 1 ms is over.
inline constexpr Micros kAlmostNothing = 1000;

Micros to_micros(Seconds t);

enum class Hold { none, spot, on_demand };

/// All that a rule may look at.
struct Moment {
    Micros now = 0;
    std::optional<Micros> deadline;  ///< none: no rule but "spot when there is some" applies
    Micros work = 0;
    Micros done = 0;
    Micros restart = 0;
    Micros overhead_left = 0;
    Micros tick = 1;
    bool spot_available = false;
    Hold held = Hold::none;
};

/// Whether the work left and so many restarts fill the ticks that are left.
bool no_slack(const Moment& moment, int restarts);
/// Progress below now * work / deadline.
bool is_behind(const Moment& moment);
/// Progress above (now + 2 restarts) * work / deadline.
bool is_ahead(const Moment& moment);

/// At the point of no return: spot that works already, else on demand. nullopt before it.
std::optional<Hold> safety_net(const Moment& moment);
Hold uniform_progress(const Moment& moment, bool hysteresis);
Hold greedy(const Moment& moment);

/// The gang as the rules see it. Nodes that are paid for anyway (reserved, Capacity Block) are held
/// first; the rules choose how to get the others.
Moment moment_of(const View& view);
/// Takes the nodes: those held, then the cheapest. What one kind lacks comes from the other.
void hold(const View& view, Hold wanted, Decision& decision);
/// When a rule may decide otherwise though nothing but time has passed.
Seconds next_question(const Moment& moment, bool only_net);

}  // namespace trainyard::spot

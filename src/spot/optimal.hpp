#pragma once
// The cheapest way to run one job by its deadline for one who knows the whole trace
// (docs/reference/simulate-cases.md, "The optimum").
//
// A stint is an unbroken time on one purchase. k stints of m ticks in all do m ticks of work less k
// restarts, however they lie, so only their number and the split of m into spot and on-demand ticks
// matter. Some optimum takes each run of available ticks wholly or not at all, fills whole gaps
// between its spot stints with on demand, and gives back what is too much at the end. So the
// choices are three per run (idle, spot, on demand), not per tick.

#include <array>
#include <cstdint>
#include <vector>

#include "uniform_progress.hpp"

namespace trainyard::spot {

/// A run of ticks that are all available, or none of them.
struct SpotRun {
    int ticks = 0;
    bool is_available = false;
};

struct OptimalProblem {
    std::vector<SpotRun> runs;  ///< from the start to the last whole tick before the deadline
    Micros tick = 1;
    Micros work = 0;     ///< what must be done
    Micros restart = 0;  ///< lost by each stint
    double spot_per_tick = 0;
    double on_demand_per_tick = 0;
};

/// What to hold in each run, before the surplus is given back; empty if there is no way.
std::vector<Hold> optimal_choices(const OptimalProblem& problem);

}  // namespace trainyard::spot

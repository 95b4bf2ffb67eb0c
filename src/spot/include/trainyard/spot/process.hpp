#pragma once
// A stochastic model of one spot pool, fitted to traces or assumed from an interruption band.
//
// Capacity of a pool alternates between up and down. Times in both states are Weibull (shape < 1:
// hazard falls with age, as on all AWS GPU traces). At the end of an up time the whole gang is lost
// with probability `gang_share`, else a burst of nodes (geometric, mean `burst`); a node may also
// be lost alone at `single_per_hour`. Hazards are multiplied by the factor of the hour of the day.

#include <array>
#include <string>

#include "trainyard/base/units.hpp"

namespace trainyard::spot {

struct Weibull {
    Seconds scale;
    double shape = 1;
    Seconds mean() const;
    /// Hazard per second at an age > 0.
    double hazard(Seconds age) const;
    /// P(life > age).
    double survival(Seconds age) const;
};

struct PriceProcess {
    double mean = 0;          ///< US dollars per hour and node
    double deviation = 0;     ///< standard deviation of the level, same unit
    Seconds between_changes;  ///< mean time between changes; 0: constant
};

/// Where the numbers come from; printed with every result.
struct ProcessSource {
    std::string text;
    std::string as_of;
    std::string status;  ///< "fitted", "assumed", …
};

struct PoolProcess {
    std::string name;
    Weibull up;
    Weibull down;
    double start_up = 1;         ///< probability that capacity is there when the job starts
    double gang_share = 1;       ///< share of drops that take every node of the pool
    double burst = 1;            ///< mean nodes lost in a drop that does not
    double single_per_hour = 0;  ///< losses of one node, per node and hour
    std::array<double, 24> hour_factor = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                          1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    PriceProcess price;
    ProcessSource source;
    int gang = 1;  ///< nodes together that it was fitted for
};

}  // namespace trainyard::spot

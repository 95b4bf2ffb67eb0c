#pragma once
// How often to save. d = blocking time of one save, M = mean time between interruptions of the
// whole job, R = restart. An interval is compute time between two saves, the save excluded.

#include "trainyard/base/units.hpp"
#include "trainyard/spot/process.hpp"

namespace trainyard::spot {

/// sqrt(2 d M) (Young 1974, doi 10.1145/361147.361115).
Seconds young_interval(Seconds save, Seconds mean_between);

/// sqrt(2 d M) [1 + sqrt(d/2M)/3 + (d/2M)/9] - d for d < 2M, else M
/// (Daly 2006, doi 10.1016/j.future.2004.11.016).
Seconds daly_interval(Seconds save, Seconds mean_between);

/// M e^{R/M} (e^{(t+d)/M} - 1) work/t: expected wall time under Poisson interruptions (Daly 2006).
Seconds daly_wall_time(Seconds work, Seconds interval, Seconds save, Seconds restart,
                       Seconds mean_between);

/// The interval that is right for nodes of this age: Young's rule with the hazard at that age.
Seconds interval_at_age(Seconds save, const Weibull& life, Seconds age);

/// The interval with the least daly_wall_time, by golden-section search.
Seconds best_interval(Seconds save, Seconds restart, Seconds mean_between);

}  // namespace trainyard::spot

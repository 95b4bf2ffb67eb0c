#pragma once
// What a trace says, without a model: `trainyard trace stats`.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/units.hpp"
#include "trainyard/spot/fit.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::spot {

/// Of all runs that were seen, the first and the last included although they are cut.
struct RunLengths {
    int count = 0;
    Seconds mean;
    Seconds median;
    Seconds p90;
    Seconds longest;
};

/// One row of the table of survival.
struct AgeBand {
    Seconds from;
    Seconds to;                             ///< infinite in the last band
    int at_risk = 0;                        ///< reached `from`
    int ended = 0;                          ///< ended in the band
    double survival = 1;                    ///< Kaplan-Meier at `from`
    std::optional<double> hazard_per_hour;  ///< ended / hours lived in the band; none: nobody lived
};

struct DropStats {
    int count = 0;            ///< moments at which the number of nodes fell
    int nodes = 0;            ///< nodes lost in them
    int to_zero = 0;          ///< drops that left no node
    int nodes_in_bursts = 0;  ///< nodes lost together with another one
};

struct PriceStats {
    double low = 0;  ///< US dollars per hour and node, as all of these
    double mean = 0;
    double high = 0;
    double deviation = 0;
    int changes = 0;
    Seconds between_changes;  ///< 0: never changed
};

struct PoolStats {
    std::string pool;
    std::string zone;
    std::string file;
    Observation observation = Observation::probe;
    int capacity = 1;
    int gang = 1;
    Seconds length;
    Seconds tick;
    double availability = 0;  ///< mean nodes / capacity
    double gang_share = 0;    ///< of time with at least `gang` nodes
    double none_share = 0;    ///< of time without a node
    RunLengths up;
    RunLengths down;
    int interruptions = 0;  ///< ends of up times
    /// Nodes lost per day of one node's up time.
    std::optional<double> lost_per_node_day;
    DropStats drops;
    std::vector<AgeBand> ages;
    std::optional<WeibullFit> weibull;
    std::optional<PriceStats> price;
};

/// gang: 0 for usual_gang().
PoolStats pool_stats(const PoolTrace& trace, int gang);
std::vector<AgeBand> survival_by_age(const std::vector<Life>& lives);
PriceStats price_stats(const std::vector<double>& start, const std::vector<double>& price,
                       Seconds end);

/// Pools that were watched together: those of one file or one folder.
struct ZoneGroup {
    std::vector<std::size_t> pools;                ///< indexes
    std::vector<std::vector<double>> correlation;  ///< Pearson, of nodes over time; NaN: constant
    double any_up = 0;  ///< share of time with a gang in at least one pool
    double all_up = 0;
    double any_up_if_independent = 0;  ///< what the shares alone would say
    Seconds length;                    ///< time that all of them were watched
};
std::vector<ZoneGroup> zone_groups(const std::vector<PoolTrace>& pools, int gang);

}  // namespace trainyard::spot

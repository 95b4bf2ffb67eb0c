#pragma once
// Plays a run many times. Memory does not grow with the number of runs: distributions are kept as
// histograms fine enough for three significant digits.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/spot/run.hpp"

namespace trainyard::spot {

/// Where the time of one run went; the parts sum to `wall`.
struct TimeSplit {
    Seconds useful;      ///< steps that count, at full-size speed
    Seconds slower;      ///< extra time because fewer nodes ran than the full size
    Seconds lost;        ///< steps repeated after an interruption
    Seconds checkpoint;  ///< standing still for saves
    Seconds restart;     ///< boot, image, restore, framework
    Seconds reshard;
    Seconds waiting;  ///< for capacity
    Seconds wall() const {
        return useful + slower + lost + checkpoint + restart + reshard + waiting;
    }
};

struct MoneySplit {
    Usd spot;
    Usd on_demand;
    Usd reserved;  ///< reserved and Capacity Blocks
    Usd transfer;
    Usd other;     ///< RunSpec::other
    Usd forgiven;  ///< not billed: interrupted by EC2 in the first hour (not in the total)
    Usd total() const { return spot + on_demand + reserved + transfer + other; }
};

enum class Ending { finished, out_of_budget, gave_up };

struct RunResult {
    Ending ending = Ending::finished;
    TimeSplit time;
    MoneySplit money;
    int interruptions = 0;  ///< times that the job stopped or shrank
    int failures = 0;       ///< of them, hardware
    int saves_on_notice = 0;
    double spot_node_hours = 0;
    double on_demand_node_hours = 0;
    double reserved_node_hours = 0;
    Seconds interval;  ///< the first cadence chosen; 0: no step was made
};

/// One entry of a sampled timeline.
struct TimelineEvent {
    Seconds at;
    std::string what;  ///< "launch", "interrupted", "saved", …
    int nodes = 0;     ///< running after it
    Seconds done;      ///< committed work after it
    Usd spent;
};

/// Plays run number `run` of `seed`. `timeline` may be null.
RunResult play(const RunSpec& spec, Policy& policy, std::uint64_t seed, std::uint64_t run,
               std::vector<TimelineEvent>* timeline);

struct Quantiles {
    double p10 = 0, p50 = 0, p90 = 0, mean = 0;
};
struct HistogramBin {
    double from = 0, to = 0;
    std::uint64_t count = 0;
};

struct Summary {
    std::string policy;
    std::uint64_t runs = 0;
    bool partial = false;      ///< stopped before all runs were played
    std::uint64_t unseed = 0;  ///< digest of all results: same seed, same unseed
    Quantiles hours;           ///< wall time
    Quantiles usd;
    double meets_deadline = 0;  ///< share of runs; 1 if there is none
    double meets_budget = 0;
    double finished = 0;
    double goodput = 0;  ///< mean useful / wall
    TimeSplit mean_time;
    MoneySplit mean_money;
    double mean_interruptions = 0;
    double mean_failures = 0;
    double on_demand_share = 0;  ///< of node-hours
    double usd_deviation = 0;    ///< standard deviation of the cost of a run (sample)
    std::vector<HistogramBin> hours_histogram;
    std::vector<HistogramBin> usd_histogram;
    Seconds interval;  ///< the cadence used (first value if it changes with age)
};

/// Time grows with the number of pools, and a region has far fewer offers than this.
inline constexpr std::size_t kMostPools = 256;

struct SimulateOptions {
    std::uint64_t runs = 10000;
    std::uint64_t seed = 1;
    int threads = 0;                       ///< 0: all
    std::atomic<bool>* stop = nullptr;     ///< set from outside: return what there is, partial
    std::function<void(double)> progress;  ///< share done, called from one thread
};

/// Refuses (diagnostics): zero nodes, no pool, over kMostPools, work that is not positive, a fixed
/// interval shorter than the save with the reason, an unknown policy.
Result<Summary> simulate(const RunSpec& spec, std::string_view policy,
                         const SimulateOptions& options);

}  // namespace trainyard::spot

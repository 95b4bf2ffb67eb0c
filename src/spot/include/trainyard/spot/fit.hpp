#pragma once
// Processes from traces, and from Spot Advisor bands (docs/model/spot-processes.md).
//
// Lives are fitted by maximum likelihood with right-censoring: what was still going on when the
// trace ended says "at least this long".

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/spot/process.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::spot {

/// A stretch of time in one state; not ended: it was cut by the end of the trace.
struct Life {
    Seconds from;  ///< on the trace's clock
    Seconds time;
    bool ended = true;
    bool first = false;  ///< began before the trace: its true age is unknown
};

struct WeibullFit {
    Weibull life;
    int ended = 0;
    int censored = 0;
    double log_likelihood = 0;
    double exponential_log_likelihood = 0;  ///< of the best constant hazard
    /// Greatest distance to the Kaplan-Meier curve, in probability. Lives seen in ticks are
    /// compared half a tick later, since n ticks stand for all lives around that length.
    double ks = 0;
};

/// Kaplan and Meier 1958: P(life > time) at the times at which lives ended.
struct KaplanMeier {
    std::vector<double> time;  ///< seconds, increasing
    std::vector<double> survival;
    double at(Seconds age) const;
};
KaplanMeier kaplan_meier(std::span<const Life> lives);

/// Lives that began before the trace are left out. Nothing if fewer than five lives ended or all
/// ended at one age. tick: sampling interval, n ticks then stand for all lives around that length;
/// 0: times are exact.
std::optional<WeibullFit> fit_weibull(std::span<const Life> lives, Seconds tick);

/// Stretches with at least `gang` nodes, and with fewer.
struct UpDown {
    std::vector<Life> up;
    std::vector<Life> down;
};
UpDown lives_of(const PoolTrace& trace, int gang);

/// Nodes whose joint fate is looked at: the capacity that was asked for; for event files the number
/// that was held half of the time.
int usual_gang(const PoolTrace& trace);

struct ProcessFit {
    PoolProcess process;
    std::optional<WeibullFit> up;
    std::optional<WeibullFit> down;
    double days = 0;
    int drops = 0;               ///< ends of up times that took more than one node, or the only one
    int singles = 0;             ///< ends of up times that took one node of several
    double hour_chi_square = 0;  ///< of 23 degrees of freedom; 0: no clock or too few ends
    std::string missing;         ///< why there is no process; empty if there is one
};

/// Never fails: a trace that says too little leaves `missing` filled. gang: 0 for usual_gang().
ProcessFit fit_process(const PoolTrace& trace, int gang);

/// data/spot/processes.csv, rebuilt by tools/fit_spot_processes.py.
const std::vector<PoolProcess>& embedded_processes();
/// Columns as written by write_processes; others are ignored.
Result<std::vector<PoolProcess>> read_processes(std::string_view csv, std::string_view file);
/// Those that have a process.
std::string write_processes(const std::vector<ProcessFit>& fits);

/// A process in which an instance that runs at a random moment is lost within a month (730 h) with
/// a probability in the middle of a Spot Advisor band. Shape, down time, gang share and burst (as a
/// share of the gang) are medians of embedded_processes(). low, high: shares per month,
/// 0 <= low <= high <= 1; gang: nodes in the pool, 1 or more.
PoolProcess process_from_band(double low_per_month, double high_per_month, std::string name,
                              int gang = 1);

}  // namespace trainyard::spot

#pragma once
// All that one call of `trainyard simulate` plays: the run itself, the same under other policies
// and cadences, with one AWS rule switched off, and with worse luck. Pure but for the hooks.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulate_options.hpp"
#include "trainyard/spot/clairvoyant.hpp"
#include "trainyard/spot/simulate.hpp"

namespace trainyard::cli {

/// A share of runs counts as certain enough from here on: nine runs in ten.
inline constexpr double kSureShare = 0.9;

/// One thing changed against the main run; the rest, seed included, is the same.
struct Variant {
    std::string id;
    std::string text;  ///< what was changed, in words
    spot::Summary summary;
};

struct CadenceRow {
    std::string name;
    std::optional<spot::Summary> summary;
    std::string refused;  ///< why there is no summary
};

struct CurvePoint {
    Seconds interval;
    double hours_mean = 0;
    double usd_mean = 0;
    double goodput = 0;
};

/// One run near the median, event by event.
struct SampledRun {
    std::uint64_t run = 0;
    spot::RunResult result;
    std::vector<spot::TimelineEvent> events;
};

struct Study {
    spot::Summary main;
    std::vector<spot::Summary> policies;  ///< main included; the best first; at most kMostRows
    std::size_t policies_left_out = 0;
    /// "lowest_price" -> "spot_only": the same in every run, so only one has a row.
    std::vector<std::pair<std::string, std::string>> policies_same;
    /// The best policy, if it is not the main one and holds spot, with the capacity of the median
    /// published trace.
    std::optional<Variant> best_on_traces;
    std::vector<std::string> policies_refused;  ///< "name: why"
    /// What one who knew every drop and return in advance would pay at least, without the plan's
    /// commitments; not for elastic jobs, and not without a deadline.
    std::optional<spot::Bound> bound;
    std::vector<CadenceRow> cadences;
    std::vector<Variant> rules;
    std::vector<Variant> what_ifs;
    std::vector<CurvePoint> curve;
    std::optional<SampledRun> sample;
    bool partial = false;  ///< stopped from outside; what is there is valid
};

inline constexpr std::size_t kMostRows = 8;

struct StudyHooks {
    std::atomic<bool>* stop = nullptr;
    std::function<void(double)> progress;  ///< share of the whole study
};

Result<Study> make_study(const SimulateRequest& request, const StudyHooks& hooks);

/// The first mistake in a line.
std::string first_words(const Error& e);

/// Both limits kept in at least kSureShare of the runs, and the job finished in as many.
bool is_sure(const spot::Summary& s);
/// Useful time of all runs over their wall time: the bars of a breakdown sum to it.
double goodput_of(const spot::Summary& s);
/// Standard error of the mean cost.
double usd_standard_error(const spot::Summary& s);
/// Wilson score interval of a share, 95 %.
struct ShareRange {
    double low = 0, high = 1;
};
ShareRange share_range(double share, std::uint64_t runs);

}  // namespace trainyard::cli

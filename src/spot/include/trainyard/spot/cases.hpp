#pragma once
// Batch: many one-node jobs on real traces under the rules of the Can't-Be-Late simulator
// (docs/reference/simulate-cases.md), for comparison with published results tick by tick.
//
// Time is whole microseconds inside: hours are rounded to it, so sums have no order and a tie is
// a tie.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/spot/policy.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::spot {

struct Case {
    std::string zone;
    int start_tick = 0;
    double task_h = 0;
    double deadline_h = 0;
    double overhead_h = 0;
    std::string policy;  ///< a name of case_policies()
    int line = 0;
    int zone_column = 0;  ///< where the row says it, for diagnostics
    int start_column = 0;
    int task_column = 0;
    int policy_column = 0;
};

struct CaseResult {
    double cost_usd = 0;
    int spot_ticks = 0;
    int od_ticks = 0;
    int ticks = 0;  ///< observations: the job ends at the beginning of the last one
    int launches = 0;
    double work_done_s = 0;
    double finish_h = 0;
    bool operator==(const CaseResult&) const = default;
};

struct CasePrices {
    double on_demand = 3.06;  ///< US dollars per hour: p3.2xlarge, us-east-1, 2023
    double spot = 0.9731;     ///< mean that the published comparison uses
};

/// Whether a spot node can be had at each tick of one pool, as runs of equal ticks.
class TickTrace {
  public:
    TickTrace(Seconds tick, const std::vector<std::uint8_t>& available);
    /// A tick counts as available if the pool has at least one node when it begins.
    explicit TickTrace(const PoolTrace& pool);

    Seconds tick() const { return tick_; }
    int size() const { return starts_.back(); }
    int runs() const { return static_cast<int>(starts_.size()) - 1; }
    /// The run that holds this tick.
    int run_at(int tick) const;
    int run_start(int run) const { return starts_[static_cast<std::size_t>(run)]; }
    int run_end(int run) const { return starts_[static_cast<std::size_t>(run) + 1]; }
    bool run_available(int run) const { return first_available_ == (run % 2 == 0); }

  private:
    Seconds tick_;
    bool first_available_ = false;
    std::vector<int> starts_;  ///< of the runs, in ticks; then the length of the trace
};

/// Names that a case may use: those of the Can't-Be-Late rules, "optimal", and every registered
/// policy that plays one node.
std::vector<std::string> case_policies();

/// Refuses: other columns, numbers that are none, a start below 0, work or a deadline that is not
/// above 0, a negative overhead, more than a million hours, an unknown policy.
Result<std::vector<Case>> read_cases(std::string_view csv, std::string_view file);

/// A part of a table that can be read alone: its header and some of its rows.
struct CaseBlock {
    std::string csv;
    int skipped = 0;  ///< lines between the header and the first row
};
/// Cuts a table into blocks of about `bytes`; one block if it has quotes, which may hide line ends.
std::vector<CaseBlock> split_cases(std::string_view csv, std::size_t bytes);
/// The cases of one block, none if it has no rows; places are those of the whole table.
Result<std::vector<Case>> read_cases(const CaseBlock& block, std::string_view file);

/// The published table's columns, in its number formats.
std::string case_table_header();
std::string case_table_rows(const std::vector<Case>& cases, const std::vector<CaseResult>& results);

/// Ticks of one case are counted in 32 bits: whether this one could need more.
bool too_many_ticks(const Case& job, Seconds tick);
/// Whether on-demand from the first tick still ends after the deadline.
bool must_be_late(const Case& job, Seconds tick);

/// Plays one case. Beyond its end a trace has no spot. up, up_nohyst, greedy and on_demand jump
/// from change to change; others are asked tick by tick.
/// Needs: start_tick within the trace, a policy of case_policies(), not too_many_ticks.
CaseResult play_case(const Case& job, const TickTrace& trace, const CasePrices& prices);

/// The same rules, `policy` asked at every tick: the reference for the jumps.
CaseResult play_case_by_ticks(const Case& job, const TickTrace& trace, const CasePrices& prices,
                              Policy& policy);

/// Exact optimum of one who knows the trace (optimal.cpp). A case that must be late is on demand
/// from its first tick.
CaseResult optimal_case(const Case& job, const TickTrace& trace, const CasePrices& prices);

}  // namespace trainyard::spot

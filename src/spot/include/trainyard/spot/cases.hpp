#pragma once
// Batch: many one-node jobs on real traces under the rules of the Can't-Be-Late simulator
// (docs/reference/simulate-cases.md), for comparison with published results tick by tick.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::spot {

struct Case {
    std::string zone;
    int start_tick = 0;
    double task_h = 0;
    double deadline_h = 0;
    double overhead_h = 0;
    std::string policy;  ///< up, up_nohyst, greedy, on_demand, optimal, default
    int line = 0;
};

struct CaseResult {
    double cost_usd = 0;
    int spot_ticks = 0;
    int od_ticks = 0;
    int ticks = 0;
    int launches = 0;
    double work_done_s = 0;
    double finish_h = 0;
};

struct CasePrices {
    double on_demand = 3.06;  ///< US dollars per hour: p3.2xlarge, us-east-1, 2023
    double spot = 0.9731;     ///< mean that the published comparison uses
};

/// Every tick of one pool: 1 = a spot node can be had.
struct TickTrace {
    Seconds tick;
    std::vector<std::uint8_t> available;
};

Result<std::vector<Case>> read_cases(std::string_view csv, std::string_view file);
/// The file's columns, in its number formats.
std::string write_cases(const std::vector<Case>& cases, const std::vector<CaseResult>& results);

CaseResult play_case(const Case& job, const TickTrace& trace, const CasePrices& prices);

/// Exact optimum of one who knows the trace: dynamic programme over (tick, work left, state).
CaseResult optimal_case(const Case& job, const TickTrace& trace, const CasePrices& prices);

}  // namespace trainyard::spot

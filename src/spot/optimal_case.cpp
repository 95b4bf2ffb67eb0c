// A case as a problem of optimal.hpp, and its answer played by the rules of cases.hpp.

#include <algorithm>
#include <span>

#include "cases_job.hpp"
#include "optimal.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::spot {
namespace {

struct Stint {
    Hold hold = Hold::none;
    Micros start = 0;
    Micros end = 0;
};

std::vector<SpotRun> runs_until_deadline(const Case& job, const TickTrace& trace, Micros ticks) {
    std::vector<SpotRun> runs;
    Micros at = job.start_tick;
    const Micros end = at + ticks;
    for (int run = trace.run_at(job.start_tick); run < trace.runs() && at < end; ++run) {
        const Micros to = std::min<Micros>(trace.run_end(run), end);
        runs.push_back({static_cast<int>(to - at), trace.run_available(run)});
        at = to;
    }
    if (at < end) {  // no spot after the end of the trace
        if (!runs.empty() && !runs.back().is_available) {
            runs.back().ticks += static_cast<int>(end - at);
        } else {
            runs.push_back({static_cast<int>(end - at), false});
        }
    }
    return runs;
}

/// What a stint loses: a rest of a restart below 1 ms ends with its tick.
Micros lost_per_stint(Micros restart, Micros tick) {
    const Micros rest = restart % tick;
    return restart >= tick && rest < kAlmostNothing ? restart - rest : restart;
}

std::vector<Stint> stints_of(const std::vector<SpotRun>& runs, const std::vector<Hold>& choices) {
    std::vector<Stint> stints;
    Micros at = 0;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        const Micros end = at + runs[r].ticks;
        const bool goes_on = choices[r] == Hold::on_demand && !stints.empty() &&
                             stints.back().end == at && stints.back().hold == Hold::on_demand;
        if (goes_on) {
            stints.back().end = end;
        } else if (choices[r] != Hold::none) {
            stints.push_back({choices[r], at, end});
        }
        at = end;
    }
    return stints;
}

/// Shortens the last stints of one kind.
void give_back(std::vector<Stint>& stints, Hold hold, Micros& surplus) {
    for (auto s = stints.rbegin(); s != stints.rend() && surplus > 0; ++s) {
        if (s->hold != hold) continue;
        const Micros ticks = std::min(surplus, s->end - s->start);
        s->end -= ticks;
        surplus -= ticks;
    }
}

CaseResult play_stints(const Case& job, const TickTrace& trace, const CasePrices& prices,
                       const std::vector<Stint>& stints) {
    CaseJob state(job, trace.tick(), prices);
    for (const Stint& s : stints) {
        if (s.end <= s.start || state.is_done()) continue;
        if (s.start > state.now_tick()) state.play(Hold::none, s.start - state.now_tick(), true);
        // A spot stint before it in the trace's previous run has been lost: spot follows no spot.
        state.play(s.hold, s.end - s.start, true);
    }
    return state.result();
}

}  // namespace

CaseResult optimal_case(const Case& job, const TickTrace& trace, const CasePrices& prices) {
    Case on_demand = job;
    on_demand.policy = "on_demand";
    const bool spot_is_cheaper = prices.spot < prices.on_demand;
    if (must_be_late(job, trace.tick()) || !spot_is_cheaper) {
        return play_case(on_demand, trace, prices);
    }
    OptimalProblem problem;
    problem.tick = to_micros(trace.tick());
    problem.runs = runs_until_deadline(job, trace, whole_ticks(job, trace.tick()));
    problem.work = hours_to_micros(job.task_h) - kAlmostNothing;
    problem.restart = lost_per_stint(hours_to_micros(job.overhead_h), problem.tick);
    problem.spot_per_tick = prices.spot * (trace.tick() / kHour);
    problem.on_demand_per_tick = prices.on_demand * (trace.tick() / kHour);
    const std::vector<Hold> choices = optimal_choices(problem);
    TRAINYARD_ASSERT(choices.size() == problem.runs.size(), "on demand alone is in time");
    std::vector<Stint> stints = stints_of(problem.runs, choices);
    Micros ticks = 0;
    for (const Stint& s : stints) ticks += s.end - s.start;
    const Micros done = ticks * problem.tick - static_cast<Micros>(stints.size()) * problem.restart;
    Micros surplus = (done - problem.work) / problem.tick;
    give_back(stints, Hold::on_demand, surplus);
    give_back(stints, Hold::spot, surplus);
    const CaseResult result = play_stints(job, trace, prices, stints);
    TRAINYARD_ASSERT(result.work_done_s > 0, "the stints do the work");
    return result;
}

}  // namespace trainyard::spot

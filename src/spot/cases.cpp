#include "trainyard/spot/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "cases_job.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::spot {
namespace {

__extension__ using Wide = __int128;

constexpr Micros kForever = std::numeric_limits<std::int32_t>::max();

enum class Rule { up, up_nohyst, greedy, on_demand };

std::optional<Rule> rule_of(std::string_view policy) {
    if (policy == "up") return Rule::up;
    if (policy == "up_nohyst") return Rule::up_nohyst;
    if (policy == "greedy") return Rule::greedy;
    if (policy == "on_demand") return Rule::on_demand;
    return std::nullopt;
}

Hold decide(Rule rule, const Moment& m) {
    switch (rule) {
        case Rule::up:
            return uniform_progress(m, true);
        case Rule::up_nohyst:
            return uniform_progress(m, false);
        case Rule::greedy:
            return greedy(m);
        case Rule::on_demand:
            break;
    }
    return safety_net(m).value_or(Hold::on_demand);
}

/// Smallest k >= 1 with k * slope > gap (or >= gap); for ever if there is none.
Micros first_above(Wide gap, Wide slope, bool is_strict) {
    if (is_strict ? gap < 0 : gap <= 0) return 1;
    if (slope <= 0) return kForever;
    const Wide k = is_strict ? gap / slope + 1 : (gap + slope - 1) / slope;
    return k > kForever ? kForever : static_cast<Micros>(k);
}

/// For how many ticks from this one the decision cannot change while availability does not. Too
/// small costs time, too large would be wrong.
Micros steady_ticks(Rule rule, const Moment& m, Hold decision) {
    // A restart moves the net from tick to tick.
    if (decision != Hold::none && (decision != m.held || m.overhead_left > 0)) return 1;
    if (decision == Hold::spot) return kForever;
    const Wide work = m.work;
    const Wide deadline = *m.deadline;
    const bool is_up = rule == Rule::up || rule == Rule::up_nohyst;
    if (decision == Hold::none) {
        // until the slack is gone
        const Micros left = m.work - m.done + (is_up ? 2 : 1) * m.restart;
        const Micros slack = *m.deadline / m.tick - m.now / m.tick - ((left - 1) / m.tick + 1);
        if (!is_up) return std::max<Micros>(slack, 1);
        // or progress is behind: done * deadline < (now + k tick) * work
        const Micros late =
            first_above(Wide{m.done} * deadline - Wide{m.now} * work, Wide{m.tick} * work, true);
        return std::max<Micros>(std::min(slack, late), 1);
    }
    if (!is_up || no_slack(m, 2)) return kForever;  // once gone, slack does not come back
    // Each tick of work gains tick * (deadline - work) on the line.
    const Wide gain = Wide{m.tick} * (deadline - work);
    if (rule == Rule::up) {
        if (!m.spot_available) return kForever;
        const Wide line = Wide{m.now + 2 * m.restart} * work;
        return first_above(line - Wide{m.done} * deadline, gain, true);
    }
    return first_above(Wide{m.now} * work - Wide{m.done} * deadline, gain, false);
}

/// Walks along the trace; beyond its end there is no spot.
class Availability {
  public:
    Availability(const TickTrace& trace, int start)
        : trace_(&trace), start_(start), run_(trace.run_at(start)) {}
    /// Goes to a tick of the job (never back).
    void go(Micros tick) {
        while (run_ < trace_->runs() && start_ + tick >= trace_->run_end(run_)) ++run_;
    }
    bool now() const { return run_ < trace_->runs() && trace_->run_available(run_); }
    /// Tick of the job at which it changes.
    Micros until() const {
        return run_ < trace_->runs() ? trace_->run_end(run_) - start_ : kForever;
    }

  private:
    const TickTrace* trace_;
    int start_;
    int run_;
};

CaseResult play_by_changes(const Case& job, const TickTrace& trace, const CasePrices& prices,
                           Rule rule) {
    CaseJob state(job, trace.tick(), prices);
    Availability spot(trace, job.start_tick);
    while (!state.is_done()) {
        spot.go(state.now_tick());
        const Moment m = state.moment(spot.now());
        const Hold wanted = decide(rule, m);
        const Micros steady = steady_ticks(rule, m, wanted);
        state.play(wanted, std::min(steady, spot.until() - state.now_tick()), spot.now());
    }
    return state.result();
}

/// Shows a case to a policy: one spot pool and one on-demand pool of one node each.
class CaseView {
  public:
    CaseView(const Moment& first, Seconds tick, const CasePrices& prices) : tick_(tick) {
        pools_[0].purchase = Purchase::spot;
        pools_[0].usd_per_hour = prices.spot;
        pools_[1].purchase = Purchase::on_demand;
        pools_[1].usd_per_hour = prices.on_demand;
        pools_[1].available = 1;
        view_.deadline = static_cast<double>(*first.deadline) * kMicrosecond;
        view_.work = static_cast<double>(first.work) * kMicrosecond;
        view_.planned_work = view_.work;
        view_.restart = static_cast<double>(first.restart) * kMicrosecond;
        view_.tick = tick;
        view_.pools = pools_;
        pools_[0].available = first.spot_available ? 1 : 0;
    }
    CaseView(const CaseView&) = delete;
    CaseView& operator=(const CaseView&) = delete;

    const View& at(const Moment& m, Micros tick, Micros launched) {
        if ((pools_[0].available > 0) != m.spot_available) changed_ = tick;
        view_.now = seconds(tick);
        view_.done = static_cast<double>(m.done) * kMicrosecond;
        view_.overhead_left = static_cast<double>(m.overhead_left) * kMicrosecond;
        pools_[0].available = m.spot_available ? 1 : 0;
        pools_[0].since = changed_ ? seconds(tick - *changed_) : -1 * kSecond;
        pools_[0].held = m.held == Hold::spot ? 1 : 0;
        pools_[1].held = m.held == Hold::on_demand ? 1 : 0;
        for (PoolView& pool : pools_) {
            pool.held_for = pool.held > 0 ? seconds(tick - launched) : 0 * kSecond;
        }
        return view_;
    }

  private:
    Seconds seconds(Micros ticks) const { return static_cast<double>(ticks) * tick_; }

    Seconds tick_;
    std::array<PoolView, 2> pools_;
    View view_;
    std::optional<Micros> changed_;  ///< tick at which availability became what it is
};

}  // namespace

TickTrace::TickTrace(Seconds tick, const std::vector<std::uint8_t>& available) : tick_(tick) {
    TRAINYARD_ASSERT(!available.empty() && to_micros(tick) > 0, "a trace has a first tick");
    first_available_ = available.front() != 0;
    starts_.push_back(0);
    for (std::size_t i = 1; i < available.size(); ++i) {
        if ((available[i] != 0) != (available[i - 1] != 0)) {
            starts_.push_back(static_cast<int>(i));
        }
    }
    starts_.push_back(static_cast<int>(available.size()));
}

TickTrace::TickTrace(const PoolTrace& pool) : tick_(pool.tick) {
    TRAINYARD_ASSERT(!pool.start.empty() && to_micros(tick_) > 0, "sampled at an interval");
    const auto tick_at = [&](double seconds) {
        return static_cast<int>(std::llround(seconds * kSecond / tick_));
    };
    first_available_ = pool.nodes.front() > 0;
    starts_.push_back(0);
    for (std::size_t i = 1; i < pool.start.size(); ++i) {
        if ((pool.nodes[i] > 0) != (pool.nodes[i - 1] > 0)) {
            starts_.push_back(tick_at(pool.start[i]));
        }
    }
    starts_.push_back(tick_at(pool.end / kSecond));
}

int TickTrace::run_at(int tick) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), tick);
    return static_cast<int>(next - starts_.begin()) - 1;
}

CaseResult play_case(const Case& job, const TickTrace& trace, const CasePrices& prices) {
    if (job.policy == "optimal") return optimal_case(job, trace, prices);
    if (const auto rule = rule_of(job.policy)) return play_by_changes(job, trace, prices, *rule);
    const auto policy = make_policy(job.policy);
    TRAINYARD_ASSERT(policy != nullptr, "read_cases refuses unknown policies");
    return play_case_by_ticks(job, trace, prices, *policy);
}

CaseResult play_case_by_ticks(const Case& job, const TickTrace& trace, const CasePrices& prices,
                              Policy& policy) {
    CaseJob state(job, trace.tick(), prices);
    Availability spot(trace, job.start_tick);
    CaseView shown(state.moment(spot.now()), trace.tick(), prices);
    Decision decision;
    Micros launched = 0;
    policy.begin(shown.at(state.moment(spot.now()), 0, launched));
    while (!state.is_done()) {
        const Micros tick = state.now_tick();
        spot.go(tick);
        const Moment m = state.moment(spot.now());
        const View& view = shown.at(m, tick, launched);
        decision.nodes.assign(view.pools.size(), 0);
        decision.ask_again = view.now + view.tick;
        policy.decide(view, decision);
        Hold wanted = Hold::none;
        if (decision.nodes[0] > 0 && m.spot_available) wanted = Hold::spot;
        if (decision.nodes[1] > 0) wanted = Hold::on_demand;
        wanted = safety_net(m).value_or(wanted);
        if (wanted != m.held) launched = tick;
        state.play(wanted, 1, m.spot_available);
    }
    return state.result();
}

}  // namespace trainyard::spot

// The default policy: expected cost under a model of spot capacity, never more than a given share
// above on-demand, never late. docs/model/spot-policy.md

#include "policy_default.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainyard/base/text.hpp"

namespace trainyard::spot {
namespace {

constexpr Seconds kForever = std::numeric_limits<double>::infinity() * kSecond;
/// Between decisions where time has no ticks: a restart is the grain of what can be gained.
constexpr Seconds kLongestPause = 10 * kMinute;
/// Without a deadline the job waits for spot as if it had this many times its work.
constexpr double kPatience = 4;
/// Of the on-demand cost of the work left: what waiting must promise while spot is there. Without
/// it a job with days of slack waits hours for capacity that is a little older. On published traces
/// it costs nothing (docs/model/spot-policy.md).
constexpr double kWorthWaiting = 0.01;

/// Whole ticks that cover this time; the time itself if there are no ticks.
Seconds whole_ticks(Seconds time, Seconds tick) {
    return tick > 0 * kSecond ? std::ceil(time / tick - 1e-6) * tick : time;
}

}  // namespace

DefaultPolicy::DefaultPolicy(const SpotPrior& prior, double most_over)
    : prior_(&prior), most_over_(most_over) {}

void DefaultPolicy::begin(const View& first) {
    spent_ = 0;
    last_ = first.now;
    wanted_.assign(first.pools.size(), 0);
    beliefs_.assign(first.pools.size(), PoolBelief(*prior_));
    tables_.assign(first.pools.size(), nullptr);
    const double price = on_demand_price(first);
    const Seconds all = whole_ticks(first.work + first.restart, first.tick);
    limit_ = (1 + most_over_) * price * (all / kHour) * first.nodes;
    first_work_ = first.planned_work;
    first_restart_ = first.restart;
    const Seconds room = std::isinf(first.deadline / kSecond)
                             ? kPatience * (first_work_ + first.restart)
                             : first.deadline - first.now;
    first_slack_ = std::max(room - first_work_, 0 * kSecond);
    patience_ = first.now + kPatience * (first.work + first.restart);
    for (std::size_t i = 0; i < first.pools.size(); ++i) {
        beliefs_[i].begin(first.now, is_up(first, i), first.pools[i].since);
    }
}

double DefaultPolicy::on_demand_price(const View& view) {
    double least = 0;
    for (const PoolView& pool : view.pools) {
        if (pool.purchase != Purchase::on_demand) continue;
        if (least == 0 || pool.usd_per_hour < least) least = pool.usd_per_hour;
    }
    return least;
}

bool DefaultPolicy::is_up(const View& view, std::size_t pool) {
    return view.pools[pool].available >= std::max(view.min_nodes, 1);
}

/// Everything wanted is taken to have been had, and billed, until now: never too little.
void DefaultPolicy::keep_books(const View& view) {
    const double hours = (view.now - last_) / kHour;
    last_ = view.now;
    for (std::size_t i = 0; i < view.pools.size(); ++i) {
        spent_ += wanted_[i] * hours * view.pools[i].usd_per_hour;
        if (view.pools[i].purchase == Purchase::spot) beliefs_[i].see(view.now, is_up(view, i));
    }
}

/// On-demand to the end from where the job stands, restart included.
Seconds DefaultPolicy::fallback(const View& view, bool is_on_demand) {
    const Seconds start = is_on_demand ? view.overhead_left : view.restart;
    return whole_ticks(view.work - view.done + start, view.tick);
}

DefaultPolicy::Standing DefaultPolicy::stand(const View& view) const {
    Standing s;
    for (std::size_t i = 0; i < view.pools.size(); ++i) {
        const PoolView& pool = view.pools[i];
        if (pool.held <= 0) continue;
        if (pool.purchase == Purchase::spot) s.spot = static_cast<int>(i);
        if (pool.purchase == Purchase::on_demand) s.is_on_demand = true;
    }
    s.price = on_demand_price(view);
    const bool is_free = std::isinf(view.deadline / kSecond);
    const Seconds end = is_free ? patience_ : view.deadline;
    s.left = std::max(end - view.now, 0 * kSecond);
    if (view.tick > 0 * kSecond) s.left = std::floor(s.left / view.tick + 1e-6) * view.tick;
    s.slack = s.left - (view.work - view.done);
    s.pause =
        view.tick > 0 * kSecond ? view.tick : std::clamp(view.restart, kMinute, kLongestPause);
    return s;
}

/// Whether a launch of spot in this pool can be paid for if it is lost at once, and is in time.
bool DefaultPolicy::may_launch(const View& view, const Standing& s, std::size_t pool) const {
    const PoolView& p = view.pools[pool];
    if (!is_up(view, pool)) return false;
    if (s.price == 0) return true;  // there is nothing else
    if (p.usd_per_hour >= s.price) return false;
    if (s.slack < 2 * view.restart + s.pause) return false;
    return can_pay(view, s, pool);
}

/// Whether there is money for a launch in this pool that is lost at once.
bool DefaultPolicy::can_pay(const View& view, const Standing& s, std::size_t pool) const {
    const PoolView& p = view.pools[pool];
    const Seconds restart = whole_ticks(view.restart, view.tick);
    const double cost = (restart / kHour) * p.usd_per_hour * view.nodes + p.usd_per_move +
                        (fallback(view, false) / kHour) * s.price * view.nodes;
    return spent_ + cost <= limit_ + 1e-9;
}

bool DefaultPolicy::may_idle(const View& view, const Standing& s) const {
    if (s.price == 0) return true;
    if (s.slack < view.restart + s.pause) return false;
    return spent_ + (fallback(view, false) / kHour) * s.price * view.nodes <= limit_ + 1e-9;
}

Gain DefaultPolicy::gain(const View& view, const Standing& s, std::size_t pool) {
    const PoolView& p = view.pools[pool];
    const Seconds work = view.work - view.done;
    auto& table = tables_[pool];
    const double ratio = p.usd_per_hour / s.price;
    if (table == nullptr || std::abs(table->grid().price_ratio - ratio) > kRatioStep) {
        table = value_table(*prior_,
                            grid_for(first_work_, first_slack_, first_restart_, view.tick, ratio));
    }
    const Seconds step = table->grid().step;
    const Seconds start = s.is_on_demand ? view.overhead_left : view.restart;
    const double money = (limit_ - spent_) / (s.price * view.nodes) - (work + start) / kHour;
    const ValueTable::Place place =
        table->place(work / step, (s.slack - (s.is_on_demand ? start : 0 * kSecond)) / step,
                     money * kHour / step);
    Gain sum;
    beliefs_[pool].each([&](int regime, int age, double probability) {
        const Gain one = table->gain(place, s.is_on_demand, beliefs_[pool].is_up(), regime, age);
        sum.launch += probability * one.launch;
        sum.idle += probability * one.idle;
    });
    sum.launch += p.usd_per_move / (s.price * view.nodes * (step / kHour));
    return sum;
}

/// The spot pool to launch in, -1 to hold nothing, -2 for on-demand.
int DefaultPolicy::choose(const View& view, const Standing& s) {
    if (s.price == 0) return cheapest_there(view);
    // In dollars over on-demand from now on, per node: pools may differ in their steps.
    double launch = 0;
    double idle = 0;
    int best = kOnDemand;
    const bool can_idle = may_idle(view, s);
    for (std::size_t i = 0; i < view.pools.size(); ++i) {
        const PoolView& pool = view.pools[i];
        if (pool.purchase != Purchase::spot || pool.usd_per_hour >= s.price) continue;
        // whoever waits for a launch that cannot be paid for waits for nothing
        if (!can_pay(view, s, i)) continue;
        const bool can_launch = may_launch(view, s, i);
        if (!can_idle && !can_launch) continue;
        const Gain g = gain(view, s, i);
        const double step = s.price * (tables_[i]->grid().step / kHour);
        if (can_idle) idle = std::min(idle, g.idle * step);
        if (can_launch && g.launch * step < launch - 1e-9) {
            launch = g.launch * step;
            best = static_cast<int>(i);
        }
    }
    // Spot that is there is not left for the hope of better spot unless that saves something.
    const double hope =
        best == kOnDemand ? 1e-9 : kWorthWaiting * s.price * ((view.work - view.done) / kHour);
    return idle < launch - hope ? kNothing : best;
}

/// Without on-demand there is no way out: what is there, the cheapest.
int DefaultPolicy::cheapest_there(const View& view) {
    int best = kNothing;
    for (std::size_t i = 0; i < view.pools.size(); ++i) {
        const PoolView& pool = view.pools[i];
        if (pool.purchase != Purchase::spot || !is_up(view, i)) continue;
        if (best >= 0 &&
            pool.usd_per_hour >= view.pools[static_cast<std::size_t>(best)].usd_per_hour)
            continue;
        best = static_cast<int>(i);
    }
    return best;
}

void DefaultPolicy::decide(const View& view, Decision& decision) {
    keep_books(view);
    const Standing s = stand(view);
    decision.nodes.assign(view.pools.size(), 0);
    decision.ask_again = kForever;
    int missing = view.nodes;
    const auto take = [&](std::size_t i) {
        decision.nodes[i] = std::clamp(view.pools[i].available, 0, missing);
        missing -= decision.nodes[i];
    };
    for (std::size_t i = 0; i < view.pools.size(); ++i) {  // paid for whether used or not
        const Purchase purchase = view.pools[i].purchase;
        if (purchase == Purchase::reserved || purchase == Purchase::capacity_block) take(i);
    }
    if (missing > 0) {
        // what runs is kept until it is lost
        const bool is_kept = s.spot >= 0 && is_up(view, static_cast<std::size_t>(s.spot));
        const int choice = is_kept && !must_leave(view, s) ? s.spot : choose(view, s);
        if (choice >= 0) take(static_cast<std::size_t>(choice));
        if (choice == kOnDemand) {
            for (std::size_t i = 0; i < view.pools.size(); ++i) {
                if (view.pools[i].purchase == Purchase::on_demand) take(i);
            }
        }
        if (choice < 0 || view.overhead_left > 0 * kSecond) decision.ask_again = view.now + s.pause;
    }
    wanted_ = decision.nodes;
}

/// Whether a restart on spot must be given up: the time or the money for it has run out.
bool DefaultPolicy::must_leave(const View& view, const Standing& s) const {
    if (s.price == 0) return false;
    const PoolView& pool = view.pools[static_cast<std::size_t>(s.spot)];
    if (pool.usd_per_hour >= s.price) return true;
    if (view.overhead_left <= 0 * kSecond) return false;
    if (s.slack < view.restart + s.pause) return true;
    const double cost = (s.pause / kHour) * pool.usd_per_hour * view.nodes +
                        (fallback(view, false) / kHour) * s.price * view.nodes;
    const bool is_through = view.overhead_left < s.pause;
    return !is_through && spent_ + cost > limit_ + 1e-9;
}

namespace {

std::unique_ptr<Policy> make(std::string_view argument) {
    double most_over = 0.01;
    if (!argument.empty()) {
        const auto number = parse_number(std::string(argument));
        if (!number || *number < 0 || *number > 1) return nullptr;
        most_over = *number;
    }
    return std::make_unique<DefaultPolicy>(spot_prior(), most_over);
}

}  // namespace

PolicyInfo default_policy();
PolicyInfo default_policy() {
    return {"default",
            "least expected cost from the age of capacity; at most 1 % above on-demand "
            "(default:0.05: 5 %)",
            "docs/model/spot-policy.md", make};
}

}  // namespace trainyard::spot

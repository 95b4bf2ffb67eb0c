// The event loop, the policy and the fleet. What the job does is in engine_job.cpp.

#include "engine.hpp"

#include <algorithm>
#include <limits>

#include "trainyard/base/contract.hpp"

namespace trainyard::spot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHourSeconds = 3600;
/// A run ends after this many times the work or the deadline: RunSpec::give_up.
constexpr double kPatience = 10;

}  // namespace

Engine::Engine(const RunSpec& spec)
    : spec_(spec), world_(spec), markets_(world_.markets()), fleet_(spec, markets_) {
    for (const Pool& pool : spec.pools) {
        if (pool.purchase == Purchase::capacity_block) {
            const int booked = std::min(pool.limit, spec.nodes);
            prepaid_ += (booked * pool.window * pool.price) / kUsd;
        }
    }
    const auto n = static_cast<std::size_t>(spec.nodes);
    speed_.resize(n + 1);
    for (std::size_t i = 1; i <= n; ++i)
        speed_[i] = spec.speed.size() == n ? spec.speed[i - 1]
                                           : static_cast<double>(i) / static_cast<double>(n);
    pool_views_.resize(spec.pools.size());
    decision_.nodes.resize(spec.pools.size());
    want_.resize(spec.pools.size());
    refused_until_.resize(spec.pools.size());
    blocking_ = spec.checkpoints.blocking.base();
    persist_ = std::max(blocking_, spec.checkpoints.persist.base());
    boot_ = (spec.start.boot + spec.start.image).base();
    framework_ = spec.start.framework.base();
    failure_rate_ = spec.failures_per_node_hour / kHourSeconds;
    const double expected = std::max(spec.work.base(), spec.deadline ? spec.deadline->base() : 0.0);
    give_up_at_ = spec.give_up > Seconds{} ? spec.give_up.base() : kPatience * expected;
    budget_ = spec.budget ? *spec.budget / kUsd : kInfinity;
    start_view();
}

/// What of the view never changes.
void Engine::start_view() {
    view_.deadline = spec_.deadline.value_or(kInfinity * kSecond);
    view_.planned_work = spec_.work;
    view_.restart = (boot_ + framework_) * kSecond + spec_.checkpoints.restore_s3;
    view_.nodes = spec_.nodes;
    view_.min_nodes = spec_.min_nodes;
    view_.pools = pool_views_;
    for (std::size_t i = 0; i < pool_views_.size(); ++i) {
        pool_views_[i].purchase = spec_.pools[i].purchase;
        pool_views_[i].region = spec_.pools[i].region;
    }
}

void Engine::begin(Policy& policy, std::uint64_t seed, std::uint64_t run) {
    policy_ = &policy;
    random_ = world_.begin(seed, run, policy.reads_rebalance());
    view_.work = work_of(spec_, seed, run);
    work_ = view_.work.base();
    fleet_.begin();
    std::fill(want_.begin(), want_.end(), 0);
    std::fill(refused_until_.begin(), refused_until_.end(), 0.0);
    now_ = phase_start_ = done_ = durable_ = peers_have_ = pending_work_ = 0;
    phase_ = Phase::idle;
    phase_end_ = pending_at_ = next_failure_ = next_ask_ = stop_at_ = next_retry_ = kInfinity;
    stopping_ = over_ = ask_wanted_ = false;
    last_size_ = replacing_ = 0;
    last_region_ = -1;
    exposure_left_ = random_.exponential();
    exposure_rate_ = exposure_from_ = first_interval_ = 0;
    useful_ = slower_ = lost_ = checkpoint_ = restart_ = reshard_ = waiting_ = 0;
    result_ = {};
    if (prepaid_ + spec_.other / kUsd > budget_) return end(Ending::out_of_budget);
    fleet_.money().other = spec_.other;
    fleet_.money().reserved = prepaid_ * kUsd;
    fill_view();
    policy.begin(view_);
    ask();
    settle();
}

RunResult Engine::play(Policy& policy, std::uint64_t seed, std::uint64_t run,
                       std::vector<TimelineEvent>* timeline) {
    timeline_ = timeline;
    begin(policy, seed, run);
    while (!over_) {
        now_ = next_time();
        handle_events();
    }
    return result();
}

double Engine::next_time() const {
    double next = std::min(std::min(phase_end_, next_failure_), std::min(next_ask_, stop_at_));
    next = std::min(next, std::min(fleet_.next_ready(), fleet_.next_death()));
    next = std::min(next, std::min(next_retry_, give_up_at_));
    for (const Market& market : markets_) next = std::min(next, market.next());
    return next;
}

void Engine::handle_events() {
    ask_wanted_ = false;
    if (now_ >= give_up_at_) {
        if (phase_ == Phase::stepping) close_stretch();
        account();
        return end(Ending::gave_up);
    }
    if (now_ >= stop_at_) begin_stop();
    for (std::size_t i = 0; i < markets_.size() && !over_; ++i) {
        if (markets_[i].next() <= now_) handle_market(i);
    }
    if (over_) return;
    if (now_ >= next_failure_) handle_failure();
    if (now_ >= fleet_.next_death()) {
        account();
        lost(fleet_.lose_doomed(now_), false);
    }
    if (now_ >= phase_end_) phase_ended();
    if (over_) return;
    if (now_ >= fleet_.next_ready()) {
        account();
        fleet_.look_ahead(now_);
    }
    if (now_ >= next_retry_ || now_ >= next_ask_) ask_wanted_ = true;
    if (ask_wanted_) ask();
    settle();
}

void Engine::handle_market(std::size_t pool) {
    Market& market = markets_[pool];
    const int held = fleet_.held(pool);
    const MarketEvent event = market.step(held);
    if (event == MarketEvent::nothing) return;
    ask_wanted_ = true;
    if (event == MarketEvent::notice) {
        const double left = market.loss_at() - now_;
        const double length = spec_.checkpoints.on_notice.base();
        if (phase_ == Phase::stepping && length > 0 && length <= left &&
            held > market.announced() && fleet_.members_of(pool) > 0) {
            if (timeline_ != nullptr) note("notice");
            start_save(Purpose::notice, length);
        }
    } else if (event == MarketEvent::drop) {
        const int gone = held - market.available();
        if (gone <= 0) return;
        account();
        const Leaving why = spec_.pools[pool].purchase == Purchase::spot ? Leaving::interrupted
                                                                         : Leaving::window_end;
        lost(fleet_.lose(pool, gone, now_, why, random_), false);
    } else if (event == MarketEvent::price) {
        watch_budget();
    }
}

/// One clock for hardware and for single interruptions of all nodes: the sum of Poisson processes.
void Engine::handle_failure() {
    exposure_left_ = random_.exponential();
    exposure_from_ = now_;
    double which = random_.uniform() * exposure_rate_;
    account();
    for (std::size_t i = 0; i < markets_.size(); ++i) {
        const int held = fleet_.held(i);
        if (held == 0) continue;
        which -= held * failure_rate_;
        if (which <= 0) {
            const Lost gone = fleet_.lose(i, 1, now_, Leaving::failed, random_);
            replacing_ += gone.nodes;
            lost(gone, true);
            return;
        }
        which -= held * markets_[i].single_rate();
        if (which > 0) continue;
        if (!random_.chance(markets_[i].hour_share(now_))) break;
        const double notice = spec_.rules.notice.base();
        if (notice <= 0 || random_.chance(spec_.rules.notice_missing)) {
            lost(fleet_.lose(i, 1, now_, Leaving::interrupted, random_), false);
            return;
        }
        const double length = spec_.checkpoints.on_notice.base();
        const bool member = fleet_.doom(i, now_ + notice, random_);
        if (member && phase_ == Phase::stepping && length > 0 && length <= notice)
            start_save(Purpose::notice, length);
        break;
    }
    holdings_changed();
}

void Engine::lost(Lost lost, bool failure) {
    if (failure) ++result_.failures;
    if (lost.members > 0) interrupted();
    ask_wanted_ = true;
    holdings_changed();
    if (timeline_ != nullptr) note(failure ? "node failed" : "interrupted");
    if (stopping_ && lost.members > 0) end(Ending::out_of_budget);
}

/// Rates depend on what is held: brings the failure clock and the budget up to date.
void Engine::holdings_changed() {
    exposure_left_ -= exposure_rate_ * (now_ - exposure_from_);
    exposure_from_ = now_;
    exposure_rate_ = 0;
    for (std::size_t i = 0; i < markets_.size(); ++i)
        exposure_rate_ += fleet_.held(i) * (failure_rate_ + markets_[i].single_rate());
    next_failure_ =
        exposure_rate_ > 0 ? now_ + std::max(0.0, exposure_left_) / exposure_rate_ : kInfinity;
    fleet_.look_ahead(now_);
    check_peers();
    watch_budget();
}

void Engine::watch_budget() {
    if (budget_ == kInfinity || stopping_) return;
    const double longest_save = std::max(persist_, spec_.checkpoints.on_notice.base());
    const double left = budget_ - fleet_.owed_at_most(now_) - fleet_.most_rate() * longest_save;
    const double rate = fleet_.rate();
    stop_at_ = left <= 0 ? now_ : rate > 0 ? now_ + left / rate : kInfinity;
}

void Engine::fill_view() {
    view_.now = now_ * kSecond;
    view_.done = durable_now() * kSecond;
    double left = 0;
    if (phase_ == Phase::restoring) left = phase_end_ - now_;
    if (phase_ == Phase::idle && fleet_.total() >= spec_.min_nodes) {
        for (const Group& g : fleet_.groups()) left = std::max(left, g.ready - now_);
        left += restart_time();
    }
    view_.overhead_left = left * kSecond;
    for (std::size_t i = 0; i < markets_.size(); ++i) {
        const Market& market = markets_[i];
        const Pool& pool = spec_.pools[i];
        PoolView& v = pool_views_[i];
        v.usd_per_hour = market.price() * kHourSeconds;
        v.held = fleet_.held(i);
        v.available = refused_until_[i] > now_ ? v.held : market.announced();
        v.since = (now_ - std::max(0.0, market.since())) * kSecond;
        if (market.since() < 0) v.since = -1 * kSecond;
        v.rebalance = market.rebalance() && v.held > 0;
        v.window_left = pool.purchase == Purchase::capacity_block
                            ? std::max(0.0, market.loss_at() - now_) * kSecond
                            : Seconds{};
        v.usd_per_move =
            last_region_ >= 0 && pool.region != last_region_ ? pool.move_cost / kUsd : 0.0;
        v.held_for = Seconds{};
    }
    for (const Group& g : fleet_.groups())  // in order of launch: the last is the youngest
        pool_views_[g.pool].held_for = std::max(0.0, now_ - g.launched) * kSecond;
}

void Engine::ask() {
    next_ask_ = next_retry_ = kInfinity;
    if (stopping_ || over_) return;
    for (const double until : refused_until_)
        if (until > now_) next_retry_ = std::min(next_retry_, until);
    fill_view();
    std::fill(decision_.nodes.begin(), decision_.nodes.end(), 0);
    decision_.ask_again = kInfinity * kSecond;
    policy_->decide(view_, decision_);
    const double again = decision_.ask_again.base();
    if (again > now_) next_ask_ = again;
    apply();
}

void Engine::apply() {
    bool changed = false;
    int left = spec_.nodes;
    const bool waits = phase_ == Phase::stepping || phase_ == Phase::saving;
    for (std::size_t i = 0; i < want_.size(); ++i) {
        const int most = std::max(pool_views_[i].available, fleet_.held(i));
        want_[i] = std::clamp(decision_.nodes[i], 0, std::min(left, most));
        left -= want_[i];
        const int excess = fleet_.held(i) - want_[i];
        // Nodes that EC2 has announced to take are left to it: then it may forgive their hour.
        if (excess <= 0 || markets_[i].noticed()) continue;
        if (!changed) account();
        changed = true;
        if (waits) {
            fleet_.release_outsiders(i, excess, now_);
        } else if (fleet_.release(i, excess, now_) > 0) {
            phase_ = Phase::idle;
            phase_end_ = kInfinity;
            fleet_.dismiss();
        }
    }
    for (std::size_t i = 0; i < want_.size() && !over_; ++i) {
        const int missing = std::min(want_[i], pool_views_[i].available) - fleet_.held(i);
        if (missing <= 0) continue;
        if (!changed) account();
        changed = true;
        launch(i, missing);
    }
    if (changed && !over_) holdings_changed();
}

void Engine::launch(std::size_t pool, int nodes) {
    const Purchase purchase = spec_.pools[pool].purchase;
    if (purchase == Purchase::on_demand && spec_.rules.on_demand_refused > 0 &&
        random_.chance(spec_.rules.on_demand_refused)) {
        refused_until_[pool] = now_ + spec_.rules.refused_retry.base();
        next_retry_ = std::min(next_retry_, refused_until_[pool]);
        return;
    }
    if (budget_ < kInfinity && purchase != Purchase::capacity_block) {
        const double save = std::max(persist_, spec_.checkpoints.on_notice.base());
        const double rate = nodes * markets_[pool].most_price();
        const double owed = fleet_.owed_at_most(now_) + fleet_.most_rate() * save +
                            rate * (fleet_.quantum() + save);
        if (owed > budget_) return begin_stop();
    }
    markets_[pool].clear_rebalance();
    const int replaced = std::min(replacing_, nodes);
    replacing_ -= replaced;
    const double delay = spec_.node_replacement.base();
    if (replaced > 0 && delay > 0) {
        fleet_.launch(pool, replaced, now_, delay, boot_);
        nodes -= replaced;
    }
    if (nodes > 0) fleet_.launch(pool, nodes, now_, 0, boot_);
    if (timeline_ != nullptr) note("launch");
}

void Engine::end(Ending ending) {
    over_ = true;
    result_.ending = ending;
    fleet_.close_all(now_);
    if (timeline_ != nullptr) note(ending == Ending::finished ? "finished" : "stopped");
}

RunResult Engine::result() const {
    RunResult r = result_;
    r.time.useful = useful_ * kSecond;
    r.time.slower = slower_ * kSecond;
    r.time.lost = lost_ * kSecond;
    r.time.checkpoint = checkpoint_ * kSecond;
    r.time.restart = restart_ * kSecond;
    r.time.reshard = reshard_ * kSecond;
    r.time.waiting = waiting_ * kSecond;
    r.money = fleet_.money();
    r.spot_node_hours = fleet_.node_hours(Purchase::spot);
    r.on_demand_node_hours = fleet_.node_hours(Purchase::on_demand);
    r.reserved_node_hours =
        fleet_.node_hours(Purchase::reserved) + fleet_.node_hours(Purchase::capacity_block);
    r.interval = first_interval_ * kSecond;
    return r;
}

void Engine::note(const char* what) {
    TimelineEvent event;
    event.at = now_ * kSecond;
    event.what = what;
    event.nodes = phase_ == Phase::stepping || phase_ == Phase::saving ? fleet_.members() : 0;
    event.done = durable_now() * kSecond;
    event.spent = fleet_.money().total();
    timeline_->push_back(std::move(event));
}

}  // namespace trainyard::spot

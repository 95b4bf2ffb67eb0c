#include "cases_job.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::spot {

Micros hours_to_micros(double hours) { return std::llround(hours * 3.6e9); }

Micros whole_ticks(const Case& job, Seconds tick) {
    return hours_to_micros(job.deadline_h) / to_micros(tick);
}

bool too_many_ticks(const Case& job, Seconds tick) {
    constexpr double kMaxTicks = 1e8;
    const double hours = std::max(job.deadline_h, job.task_h + job.overhead_h);
    return hours * kHour > kMaxTicks * tick;
}

bool must_be_late(const Case& job, Seconds tick) {
    const Micros needed = hours_to_micros(job.task_h) + hours_to_micros(job.overhead_h);
    return needed - kAlmostNothing > whole_ticks(job, tick) * to_micros(tick);
}

CaseJob::CaseJob(const Case& job, Seconds tick, const CasePrices& prices)
    : gap_(to_micros(tick)),
      work_(hours_to_micros(job.task_h)),
      deadline_(hours_to_micros(job.deadline_h)),
      restart_(hours_to_micros(job.overhead_h)),
      spot_per_tick_(prices.spot * (tick / kSecond) / 3600.0),
      on_demand_per_tick_(prices.on_demand * (tick / kSecond) / 3600.0) {}

void CaseJob::bill(Hold held, Micros ticks) {
    const bool is_spot = held == Hold::spot;
    (is_spot ? spot_ticks_ : on_demand_ticks_) += ticks;
    const double price = is_spot ? spot_per_tick_ : on_demand_per_tick_;
    for (Micros i = 0; i < ticks; ++i) cost_ += price;
}

Moment CaseJob::moment(bool is_available) const {
    Moment m;
    m.now = tick_ * gap_;
    m.deadline = deadline_;
    m.work = work_;
    m.done = done_;
    m.restart = restart_;
    m.overhead_left = overhead_left_;
    m.tick = gap_;
    m.spot_available = is_available;
    m.held = held_ == Hold::spot && !is_available ? Hold::none : held_;
    return m;
}

void CaseJob::play(Hold wanted, Micros ticks, bool is_available) {
    const Hold kept = held_ == Hold::spot && !is_available ? Hold::none : held_;
    held_ = wanted;
    if (wanted == Hold::none) {
        tick_ += ticks;
        return;
    }
    if (wanted != kept) {
        ++launches_;
        overhead_left_ = restart_;
    }
    // A restart ends inside a tick, and less than 1 ms of it is none: tick by tick.
    for (; ticks > 0 && overhead_left_ > 0 && !is_done(); --ticks) {
        const Micros useful = std::max<Micros>(gap_ - overhead_left_, 0);
        overhead_left_ -= gap_ - useful;
        if (overhead_left_ < kAlmostNothing) overhead_left_ = 0;
        done_ = std::min(done_ + useful, work_);
        ++tick_;
        bill(wanted, 1);
    }
    if (ticks <= 0 || is_done()) return;
    const Micros played = std::min(ticks, (work_ - done_ - kAlmostNothing + gap_ - 1) / gap_);
    done_ = std::min(done_ + played * gap_, work_);
    tick_ += played;
    bill(wanted, played);
}

CaseResult CaseJob::result() const {
    CaseResult r;
    r.spot_ticks = static_cast<int>(spot_ticks_);
    r.od_ticks = static_cast<int>(on_demand_ticks_);
    r.ticks = static_cast<int>(tick_) + 1;
    r.launches = launches_;
    r.work_done_s = static_cast<double>(done_) / 1e6;
    r.finish_h = static_cast<double>(tick_ * gap_) / 3.6e9;
    r.cost_usd = cost_;
    return r;
}

}  // namespace trainyard::spot

// How often the job saves, from what it can know: the rates of loss of the nodes it runs on.

#include <algorithm>

#include "engine.hpp"
#include "trainyard/spot/cadence.hpp"

namespace trainyard::spot {

double Engine::choose_interval() {
    const Checkpoints& c = spec_.checkpoints;
    if (c.cadence == Cadence::fixed) return std::min(c.interval.base(), kNever);
    // A save on notice that fits leaves to the periodic ones only the losses without a notice.
    const bool saves_on_notice = c.on_notice > Seconds{} && c.on_notice <= spec_.rules.notice;
    const double unannounced = saves_on_notice ? spec_.rules.notice_missing : 1;
    double rate = failure_rate_ * fleet_.members();
    for (std::size_t i = 0; i < markets_.size(); ++i) {
        const int nodes = fleet_.members_of(i);
        if (nodes == 0) continue;
        const Market& market = markets_[i];
        const double drops = c.cadence == Cadence::age_aware
                                 ? market.drop_rate_at(now_ - std::max(0.0, market.since()))
                                 : market.drop_rate();
        rate += unannounced * (drops + nodes * market.single_rate());
    }
    return interval_for(rate);
}

double Engine::interval_for(double rate) {
    for (const KnownInterval& known : known_intervals_)
        if (known.rate == rate) return known.interval;
    const Checkpoints& c = spec_.checkpoints;
    double interval = kNever;
    if (rate > 0) {
        const Seconds mean = 1 / rate * kSecond;
        Seconds best = young_interval(c.blocking, mean);
        if (c.cadence == Cadence::daly) best = daly_interval(c.blocking, mean);
        if (c.cadence == Cadence::best) best = best_interval(c.blocking, c.restore_s3, mean);
        // No save starts before the last one is safe; none more often than once a second.
        interval = std::clamp(best.base(), std::max(persist_, 1.0), kNever);
    }
    known_intervals_[next_known_] = {rate, interval};
    next_known_ = (next_known_ + 1) % known_intervals_.size();
    return interval;
}

}  // namespace trainyard::spot

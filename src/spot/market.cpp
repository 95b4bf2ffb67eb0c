#include "market.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::spot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHourSeconds = 3600;
/// Levels of a random price stay inside these: a normal draw has no bounds and prices have.
constexpr double kLeastLevel = 0.1;
constexpr double kMostDeviations = 4;
/// Capacity Blocks: EventBridge warns 40 minutes before the end, so 10 before the nodes go
/// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html).
constexpr double kBlockWarning = 600;
/// Shortest and longest lead of a recommendation before the loss: 17 min and 8 h 42 min
/// (aws-node-termination-handler issue 141); drawn uniformly in the logarithm.
constexpr double kLeastLead = 17 * 60.0;
constexpr double kMostLead = 8 * 3600.0 + 42 * 60.0;

/// Gamma(shape, 1) for shape >= 1 (Marsaglia and Tsang 2000, doi 10.1145/358407.358414).
double gamma(Random& random, double shape) {
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = random.normal();
        const double v = std::pow(1 + c * x, 3);
        if (v > 0 && random.exponential() > -(0.5 * x * x + d - d * v + d * std::log(v)))
            return d * v;
    }
}

double trace_drop_rate(const PoolTrace& trace, int nodes) {
    double up = 0;
    int drops = 0;
    for (std::size_t i = 0; i < trace.start.size(); ++i) {
        const double end = i + 1 < trace.start.size() ? trace.start[i + 1] : trace.end.base();
        const int need = std::min(nodes, trace.capacity);
        if (trace.nodes[i] < need) continue;
        up += end - trace.start[i];
        if (i + 1 < trace.start.size() && trace.nodes[i + 1] < need) ++drops;
    }
    return up > 0 ? drops / up : 0;
}

}  // namespace

Market::Market(const Pool& pool, const RunSpec& spec)
    : process_(pool.process && pool.trace == nullptr ? &*pool.process : nullptr),
      trace_(pool.trace),
      limit_(pool.limit),
      nodes_(spec.nodes),
      fixed_price_(pool.price.base()),
      window_end_(kInfinity) {
    const AwsRules& rules = spec.rules;
    if (pool.purchase == Purchase::spot) {
        notice_ = rules.notice.base();
        notice_missing_ = rules.notice_missing;
    }
    if (pool.purchase == Purchase::capacity_block) {
        notice_ = kBlockWarning;
        window_end_ = std::max(0.0, (pool.window - rules.block_ends_early).base());
    }
    if (process_ != nullptr) {
        drop_rate_ = 1 / process_->up.mean().base();
        const auto& factor = process_->hour_factor;
        most_factor_ = *std::max_element(factor.begin(), factor.end());
        one_hour_factor_ =
            std::all_of(factor.begin(), factor.end(), [&](double f) { return f == most_factor_; });
        single_rate_ = process_->single_per_hour / kHourSeconds * most_factor_;
        const PriceProcess& price = process_->price;
        if (price.mean > 0) fixed_price_ = price.mean / kHourSeconds;
        most_price_ = fixed_price_ + kMostDeviations * price.deviation / kHourSeconds;
    }
    if (trace_ != nullptr) {
        drop_rate_ = trace_drop_rate(*trace_, spec.nodes);
        if (!trace_->price.empty())
            most_price_ =
                *std::max_element(trace_->price.begin(), trace_->price.end()) / kHourSeconds;
    }
    most_price_ = std::max(most_price_, fixed_price_);
    if (rules.rebalance && pool.purchase == Purchase::spot && rules.rebalance_precision > 0) {
        // Of all recommendations the share `precision` announces a loss; recall per loss is true.
        recall_ = rules.rebalance_recall;
        false_rate_ = drop_rate_ * recall_ * (1 / rules.rebalance_precision - 1);
    }
}

void Market::begin(std::uint64_t seed, std::uint64_t run, std::uint64_t index, double place,
                   double start_hour, bool signals) {
    random_ = Random(Random::mix(seed + 2 * index + 1), run);
    start_hour_ = start_hour;
    signals_ = signals && recall_ > 0;
    if (signals_) other_ = Random(Random::mix(seed + 2 * index + 2), run);
    noticed_ = rebalance_ = false;
    change_at_ = notice_at_ = price_at_ = signal_at_ = false_at_ = kInfinity;
    paid_ = paid_at_ = since_ = 0;
    up_ = true;
    price_ = fixed_price_;
    available_ = limit_;
    if (process_ != nullptr) {
        begin_process(process_->start_up);
    } else if (trace_ != nullptr) {
        begin_trace(place);
    } else if (window_end_ < kInfinity) {
        schedule_notice(0, window_end_);
    }
    set_next();
}

/// The job is submitted at a moment that has nothing to do with the pool, so the state it finds is
/// the stationary one: a long up time is found more often, in proportion to its length.
void Market::begin_process(double p) {
    up_ = p >= 1 || random_.chance(p);
    const double length = length_biased(up_ ? process_->up : process_->down);
    const double age = length * random_.uniform();
    since_ = -age;
    if (!up_) {
        available_ = 0;
        change_at_ = length - age;
    } else if (one_hour_factor_ && most_factor_ == 1) {
        schedule_notice(0, length - age);
    } else {
        schedule_up(0, age);
    }
    if (process_->price.mean > 0 && process_->price.between_changes > Seconds{}) draw_price(0);
}

double Market::length_biased(const Weibull& life) {
    const double k = 1 / life.shape;
    return life.scale.base() * std::pow(gamma(random_, 1 + k), k);
}

/// Length of an up time that has reached `age`, as what is left of it. Thinning: candidates come
/// with the hazard of the worst hour and count with the share of their own.
double Market::up_time(double now, double age) {
    const Weibull& life = process_->up;
    const double scale = life.scale.base();
    const double shape = life.shape;
    if (age == 0 && one_hour_factor_) {
        const double e = random_.exponential() / most_factor_;
        return scale * (shape == 1 ? e : std::pow(e, 1 / shape));
    }
    const double born = now - age;
    double hazard = age > 0 ? std::pow(age / scale, shape) : 0;
    for (;;) {
        hazard += random_.exponential() / most_factor_;
        const double at = scale * std::pow(hazard, 1 / shape);
        if (one_hour_factor_ || random_.chance(hour_share(born + at))) return at - age;
    }
}

double Market::hour_share(double now) const {
    if (one_hour_factor_) return 1;
    const double hour = std::fmod(start_hour_ + now / kHourSeconds, 24);
    return process_->hour_factor[static_cast<std::size_t>(hour) % 24] / most_factor_;
}

double Market::drop_rate_at(double age) const {
    if (process_ == nullptr) return drop_rate_;
    return process_->up.hazard(std::max(age, 60.0) * kSecond);
}

void Market::schedule_up(double now, double age) { schedule_notice(now, now + up_time(now, age)); }

void Market::schedule_notice(double now, double change) {
    change_at_ = change;
    notice_at_ = kInfinity;
    if (notice_ > 0 && (notice_missing_ <= 0 || !random_.chance(notice_missing_)))
        notice_at_ = std::max(now, change - notice_);
    if (signals_) schedule_signals(now);
}

void Market::schedule_signals(double now) {
    signal_at_ = kInfinity;
    if (other_.chance(recall_)) {
        const double lead = kLeastLead * std::pow(kMostLead / kLeastLead, other_.uniform());
        signal_at_ = std::max(now, change_at_ - lead);
    }
    const double first = now + other_.exponential() / false_rate_;
    false_at_ = first < change_at_ ? first : kInfinity;
}

void Market::set_price(double now, double price) {
    paid_ += price_ * (now - paid_at_);
    paid_at_ = now;
    price_ = price;
}

void Market::draw_price(double now) {
    const PriceProcess& p = process_->price;
    const double level = p.mean + p.deviation * random_.normal();
    set_price(now, std::clamp(level, kLeastLevel * p.mean, p.mean + kMostDeviations * p.deviation) /
                       kHourSeconds);
    price_at_ = now + random_.exponential() * p.between_changes.base();
}

int Market::draw_after(int held) {
    if (random_.chance(process_->gang_share)) return 0;
    int lost = 1;
    if (process_->burst > 1)
        lost += static_cast<int>(
            std::min(1e6, std::log(random_.uniform()) / std::log1p(-1 / process_->burst)));
    return std::max(0, (held > 0 ? held : std::min(limit_, nodes_)) - lost);
}

void Market::set_next() {
    next_ = std::min(std::min(change_at_, notice_at_),
                     std::min(price_at_, std::min(signal_at_, false_at_)));
}

MarketEvent Market::step(int held) {
    const double now = next_;
    MarketEvent event = MarketEvent::nothing;
    if (now == notice_at_) {
        notice_at_ = kInfinity;
        if (process_ != nullptr) {
            after_ = draw_after(held);
        } else if (trace_ == nullptr) {
            after_ = 0;
        }
        noticed_ = true;
        event = MarketEvent::notice;
    } else if (now == change_at_) {
        const int before = available_;
        change(now, held);
        event = available_ < before ? MarketEvent::drop : MarketEvent::rise;
    } else if (now == price_at_) {
        if (process_ != nullptr) {
            draw_price(now);
        } else {
            next_price_of_trace(now);
        }
        event = MarketEvent::price;
    } else {
        if (now == signal_at_) {
            signal_at_ = kInfinity;
        } else {
            const double again = now + other_.exponential() / false_rate_;
            false_at_ = again < change_at_ ? again : kInfinity;
        }
        if (!rebalance_) event = MarketEvent::rebalance;
        rebalance_ = true;
    }
    set_next();
    return event;
}

void Market::change(double now, int held) {
    since_ = now;
    notice_at_ = signal_at_ = false_at_ = kInfinity;
    if (trace_ != nullptr) {
        noticed_ = false;
        ++sample_;
        if (sample_ == trace_->start.size()) {
            sample_ = 0;
            turn_ += trace_->end.base();
        }
        available_ = nodes_of_trace(sample_);
        next_of_trace(now);
    } else if (process_ == nullptr) {  // the end of a Capacity Block
        available_ = 0;
        change_at_ = kInfinity;
        noticed_ = false;
    } else if (up_) {
        if (!noticed_) after_ = draw_after(held);
        available_ = std::min(after_, limit_);
        noticed_ = rebalance_ = false;
        up_ = false;
        change_at_ = now + random_.weibull(process_->down.scale.base(), process_->down.shape);
    } else {
        up_ = true;
        available_ = limit_;
        schedule_up(now, 0);
    }
}

int Market::nodes_of_trace(std::size_t i) const {
    // A probe for fewer nodes than the job has says what share of a gang could be had.
    const int seen = trace_->nodes[i];
    const int all = trace_->capacity >= nodes_ ? seen : seen * nodes_ / trace_->capacity;
    return std::min(all, limit_);
}

void Market::begin_trace(double place) {
    const double end = trace_->end.base();
    const double offset = std::fmod(place, end);
    const auto find = [&](const std::vector<double>& start) {
        const auto it = std::upper_bound(start.begin(), start.end(), offset);
        return it == start.begin() ? start.size() - 1
                                   : static_cast<std::size_t>(it - start.begin()) - 1;
    };
    sample_ = find(trace_->start);
    turn_ = price_turn_ = -offset;
    since_ = trace_->start[sample_] - offset;
    available_ = nodes_of_trace(sample_);
    next_of_trace(0);
    if (trace_->price.empty()) return;
    price_sample_ = find(trace_->price_start);
    price_ = trace_->price[price_sample_] / kHourSeconds;
    if (trace_->price.size() > 1) {
        const bool last = price_sample_ + 1 == trace_->price.size();
        price_at_ = price_turn_ + (last ? end : trace_->price_start[price_sample_ + 1]);
    }
}

/// The replay wraps: after the end comes the beginning.
void Market::next_of_trace(double now) {
    change_at_ = kInfinity;
    if (trace_->start.size() < 2) return;
    const bool last = sample_ + 1 == trace_->start.size();
    const double at = turn_ + (last ? trace_->end.base() : trace_->start[sample_ + 1]);
    after_ = nodes_of_trace(last ? 0 : sample_ + 1);
    if (after_ < available_) {
        schedule_notice(now, at);
    } else {
        change_at_ = at;
    }
}

void Market::next_price_of_trace(double now) {
    ++price_sample_;
    if (price_sample_ == trace_->price.size()) {
        price_sample_ = 0;
        price_turn_ += trace_->end.base();
    }
    set_price(now, trace_->price[price_sample_] / kHourSeconds);
    const bool last = price_sample_ + 1 == trace_->price.size();
    price_at_ = price_turn_ + (last ? trace_->end.base() : trace_->price_start[price_sample_ + 1]);
}

}  // namespace trainyard::spot

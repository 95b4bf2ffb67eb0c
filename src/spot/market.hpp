#pragma once
// What one pool offers during one run: capacity, its price, the notices before a loss and the
// rebalance recommendations. A function of (seed, run, pool) alone, whatever a policy does, so that
// two policies meet the same world; only how many nodes a partial drop takes depends on those held.
// Plain doubles: seconds since the start of the run, US dollars per second and node.

#include <cstdint>

#include "trainyard/base/random.hpp"
#include "trainyard/spot/run.hpp"

namespace trainyard::spot {

enum class MarketEvent { nothing, notice, drop, rise, price, rebalance };

class Market {
  public:
    Market(const Pool& pool, const RunSpec& spec);

    /// `place`: where replays begin, seconds after the start of the longest trace.
    /// `start_hour`: of the day (UTC), of the time 0. `signals`: recommendations are wanted.
    void begin(std::uint64_t seed, std::uint64_t run, std::uint64_t index, double place,
               double start_hour, bool signals);

    double next() const { return next_; }
    /// Takes the event at next(). After `drop` nodes above available() are lost.
    MarketEvent step(int held);

    int available() const { return available_; }
    /// Capacity right after the loss that a notice has announced; available() if there is none.
    int announced() const { return noticed_ ? after_ : available_; }
    bool noticed() const { return noticed_; }
    double loss_at() const { return change_at_; }
    double since() const { return since_; }
    double price() const { return price_; }
    double most_price() const { return most_price_; }
    /// Price integrated from 0 to `now`: dollars of one node held since the start.
    double paid(double now) const { return paid_ + price_ * (now - paid_at_); }
    bool rebalance() const { return rebalance_; }
    void clear_rebalance() { rebalance_ = false; }

    /// Drops per second of up time, on average over ages; 0: never.
    double drop_rate() const { return drop_rate_; }
    /// The same at an age of the up time.
    double drop_rate_at(double age) const;
    /// Losses of one node per second and node, at the worst hour; a loss at `now` is real with the
    /// probability hour_share(now).
    double single_rate() const { return single_rate_; }
    double hour_share(double now) const;

  private:
    void begin_process(double p);
    void begin_trace(double place);
    void schedule_up(double now, double age);
    void schedule_notice(double now, double change);
    void schedule_signals(double now);
    void set_next();
    void set_price(double now, double price);
    void draw_price(double now);
    int draw_after(int held);
    void change(double now, int held);
    void next_of_trace(double now);
    void next_price_of_trace(double now);
    int nodes_of_trace(std::size_t i) const;
    double up_time(double now, double age);
    double length_biased(const Weibull& life);

    // The pool.
    const PoolProcess* process_ = nullptr;
    const PoolTrace* trace_ = nullptr;
    int limit_ = 0;
    int nodes_ = 0;
    double notice_ = 0;
    double notice_missing_ = 0;
    double recall_ = 0;
    double false_rate_ = 0;
    double drop_rate_ = 0;
    double single_rate_ = 0;
    double most_factor_ = 1;
    double fixed_price_ = 0;
    double most_price_ = 0;
    double window_end_ = 0;
    bool one_hour_factor_ = true;
    bool signals_ = false;

    // The run.
    Random random_{0, 0};
    Random other_{0, 0};
    double start_hour_ = 0;
    double next_ = 0;
    double change_at_ = 0;
    double notice_at_ = 0;
    double price_at_ = 0;
    double signal_at_ = 0;
    double false_at_ = 0;
    double since_ = 0;
    double price_ = 0;
    double paid_ = 0;
    double paid_at_ = 0;
    double turn_ = 0;  ///< time at which the replay's sample 0 would be, of this turn
    double price_turn_ = 0;
    std::size_t sample_ = 0;
    std::size_t price_sample_ = 0;
    int available_ = 0;
    int after_ = 0;
    bool up_ = true;
    bool noticed_ = false;
    bool rebalance_ = false;
};

}  // namespace trainyard::spot

#pragma once
// A case while it is played: the state at the beginning of a tick and what one tick does to it.

#include "trainyard/spot/cases.hpp"
#include "uniform_progress.hpp"

namespace trainyard::spot {

/// Hours to microseconds; exact for multiples of 1 us.
Micros hours_to_micros(double hours);

/// Ticks until the deadline, the last one whole.
Micros whole_ticks(const Case& job, Seconds tick);

class CaseJob {
  public:
    CaseJob(const Case& job, Seconds tick, const CasePrices& prices);

    /// What a rule sees. `is_available`: spot at this tick.
    Moment moment(bool is_available) const;
    bool is_done() const { return work_ - done_ <= kAlmostNothing; }
    /// Holds this for so many ticks (those after the end of the work are not played). Several at
    /// once only when no restart is under way at their beginning.
    void play(Hold wanted, Micros ticks, bool is_available);

    Micros now_tick() const { return tick_; }
    Micros overhead_left() const { return overhead_left_; }
    CaseResult result() const;

  private:
    /// One tick after the other, as the published table was summed: some of its last digits need
    /// it.
    void bill(Hold held, Micros ticks);

    Micros gap_, work_, deadline_, restart_;
    Micros tick_ = 0;
    Micros done_ = 0;
    Micros overhead_left_ = 0;
    Hold held_ = Hold::none;
    double spot_per_tick_, on_demand_per_tick_;  ///< US dollars
    double cost_ = 0;
    Micros spot_ticks_ = 0;
    Micros on_demand_ticks_ = 0;
    int launches_ = 0;
};

}  // namespace trainyard::spot

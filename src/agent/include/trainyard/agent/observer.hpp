#pragma once
// What a run's progress means: where its time went, whether it hangs, whether its loss is a number,
// what it has cost. Pure: lines, signs of life and the time go in, events come out.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/agent/machine.hpp"
#include "trainyard/agent/progress.hpp"
#include "trainyard/agent/record.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::agent {

/// Where the time of a run goes.
struct TimeSpent {
    Seconds useful;  ///< steps that a complete checkpoint holds, or that a good end kept
    Seconds open;    ///< steps since the newest complete checkpoint: useful or lost, not known yet
    Seconds lost;    ///< steps that had to be done again
    Seconds starting;  ///< from the start of the command to its first step
    Seconds waiting;   ///< pauses before a restart, reading the store, restoring
    Seconds ending;    ///< saving and uploading once the run winds down

    Seconds total() const { return useful + open + lost + starting + waiting + ending; }
    /// Useful and open time over all time; nullopt before any.
    std::optional<double> goodput() const;
};

class Ledger {
  public:
    enum class Activity { waiting, starting, training, ending, none };

    explicit Ledger(TimeSpent spent = {}) : spent_(spent) {}
    /// Time since the last call belongs to the activity that was set then.
    void pass(Instant now);
    void set(Activity activity, Instant now);
    void progress(std::int64_t step, Instant now);
    /// A complete checkpoint holds all steps up to this one.
    void saved(std::int64_t step, Instant now);
    /// The next attempt begins from the newest complete checkpoint: what came after it is lost.
    void fell_back(Instant now);
    void ended_well(Instant now);

    const TimeSpent& spent() const { return spent_; }
    Activity activity() const { return activity_; }

  private:
    struct Mark {
        std::int64_t step = 0;
        Seconds open;  ///< TimeSpent::open when the step was told
    };
    TimeSpent spent_;
    Activity activity_ = Activity::none;
    std::optional<Instant> since_;
    std::deque<Mark> marks_;
};

struct ObserverSettings {
    std::optional<Seconds> hang_after = {};  ///< absent: from the step times
    bool watches_hangs = true;
    Seconds start_limit = kHour;  ///< from the start of the command to its first step
    bool stops_on_bad_loss = false;
    std::optional<Seconds> idle_after = {};  ///< nothing new for so long ends the run
    std::optional<UsdPerSecond> price = {};
    std::optional<Usd> budget = {};
};

/// A hang is told after so many usual step times, and not before so long.
inline constexpr double kHangSteps = 20;
inline constexpr Seconds kHangAtLeast = 5 * kMinute;

class Observer {
  public:
    Observer(ObserverSettings settings, TimeSpent before);

    void attempt_begins(Instant now, std::int64_t from);
    void attempt_ends(Instant now, bool ended_well);
    /// One line of the log. What it gives rise to is appended.
    void line(const LogProgress& progress, Instant now, std::vector<Event>& out);
    /// After the lines that were read at `now`: several steps may have come at once, so the time of
    /// one is told from the last line of each reading.
    void lines_end(Instant now);
    /// The heartbeat file or a checkpoint on disk has changed.
    void alive(Instant now);
    void saved(std::int64_t step, Instant now);
    /// Now and then. `wind_down`: how long saving and ending would take.
    void tick(Machine::Phase phase, Seconds wind_down, Instant now, std::vector<Event>& out);

    const Ledger& ledger() const { return ledger_; }
    std::optional<Usd> cost() const;      ///< of all nodes
    std::optional<Usd> own_cost() const;  ///< of this one
    /// What the other nodes have cost so far, and how many there are now, this one included.
    void others_cost(Usd cost, int nodes);
    std::optional<Seconds> step_time() const;  ///< median of the last ones; the mean of short ones
    std::optional<double> loss() const { return loss_; }
    std::optional<TokensPerSecond> speed() const { return speed_; }
    std::optional<std::int64_t> last_step() const { return last_step_; }  ///< "100/5000": 5000
    std::int64_t step() const { return step_; }
    std::optional<Seconds> hang_limit() const;
    const StepSpans& spans() const { return spans_; }
    void restore_spans(const doc::Node& list) { spans_.restore(list); }

  private:
    void watch_hang(Instant now, std::vector<Event>& out);
    void watch_money(Seconds wind_down, std::vector<Event>& out);

    ObserverSettings settings_;
    Ledger ledger_;
    std::int64_t step_ = -1;
    std::int64_t highest_ = -1;
    std::optional<Instant> step_at_;
    struct Timed {
        Instant time;
        std::int64_t step = 0;
    };
    std::deque<Timed> timed_;  ///< the last readings of the log that brought a step
    StepSpans spans_;
    std::optional<Instant> alive_at_;
    std::optional<Instant> new_at_;  ///< a step never reached before, or a checkpoint
    bool is_running_ = false;
    bool has_told_hang_ = false;
    bool has_told_loss_ = false;
    bool has_told_idle_ = false;
    bool has_told_budget_ = false;
    Usd others_cost_;
    int nodes_ = 1;
    double warned_ = 0;  ///< share of the budget that was warned of
    std::optional<double> loss_;
    std::optional<TokensPerSecond> speed_;
    std::optional<std::int64_t> last_step_;
};

/// Prometheus text format 0.0.4.
std::string metrics_text(const Observer& observer, const Machine& machine, Instant now);

}  // namespace trainyard::agent

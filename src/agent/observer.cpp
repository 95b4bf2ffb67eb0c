#include "trainyard/agent/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard::agent {

using Level = action::Say::Level;

namespace {

constexpr std::size_t kMostMarks = 4096;
constexpr std::size_t kMostTimed = 64;
constexpr std::size_t kFewestTimed = 4;
constexpr Seconds kCoarse = 5 * kSecond;       ///< ten times the pause between readings of the log
constexpr Seconds kOthersTold = 12 * kSecond;  ///< at most, until a node's cost is known to others
constexpr std::array<double, 2> kWarnings = {0.5, 0.8};

}  // namespace

std::optional<double> TimeSpent::goodput() const {
    if (total() <= 0 * kSecond) return std::nullopt;
    return (useful + open) / total();
}

void Ledger::pass(Instant now) {
    const Seconds passed = since_ ? std::max(now - *since_, 0 * kSecond) : 0 * kSecond;
    since_ = now;
    switch (activity_) {
        case Activity::waiting:
            spent_.waiting += passed;
            return;
        case Activity::starting:
            spent_.starting += passed;
            return;
        case Activity::training:
            spent_.open += passed;
            return;
        case Activity::ending:
            spent_.ending += passed;
            return;
        case Activity::none:
            return;
    }
}

void Ledger::set(Activity activity, Instant now) {
    pass(now);
    activity_ = activity;
}

void Ledger::progress(std::int64_t step, Instant now) {
    pass(now);
    if (activity_ == Activity::starting) activity_ = Activity::training;
    marks_.push_back({step, spent_.open});
    if (marks_.size() > kMostMarks) marks_.pop_front();
}

void Ledger::saved(std::int64_t step, Instant now) {
    pass(now);
    Seconds kept = 0 * kSecond;
    while (!marks_.empty() && marks_.front().step <= step) {
        kept = marks_.front().open;
        marks_.pop_front();
    }
    spent_.useful += kept;
    spent_.open -= kept;
    for (Mark& mark : marks_) mark.open -= kept;
}

void Ledger::fell_back(Instant now) {
    pass(now);
    spent_.lost += spent_.open;
    spent_.open = 0 * kSecond;
    marks_.clear();
}

void Ledger::ended_well(Instant now) {
    pass(now);
    spent_.useful += spent_.open;
    spent_.open = 0 * kSecond;
    marks_.clear();
}

Observer::Observer(ObserverSettings settings, TimeSpent before)
    : settings_(settings), ledger_(before) {}

void Observer::attempt_begins(Instant now, std::int64_t from) {
    ledger_.fell_back(now);
    ledger_.set(Ledger::Activity::starting, now);
    is_running_ = true;
    has_told_hang_ = has_told_loss_ = false;
    step_ = from;
    step_at_.reset();
    timed_.clear();
    spans_.begin();
    alive_at_ = now;
    if (!new_at_) new_at_ = now;
}

void Observer::attempt_ends(Instant now, bool ended_well) {
    is_running_ = false;
    if (ended_well) ledger_.ended_well(now);
    ledger_.set(Ledger::Activity::waiting, now);
}

void Observer::line(const LogProgress& p, Instant now, std::vector<Event>& out) {
    if (p.last_step) last_step_ = p.last_step;
    if (p.speed) speed_ = p.speed;
    if (p.loss) {
        loss_ = p.loss;
        if (!std::isfinite(*p.loss) && !has_told_loss_) {
            has_told_loss_ = true;
            const std::string text =
                fmt::format("the loss is {} at step {}", *p.loss, p.step.value_or(step_));
            out.emplace_back(event::Remark{text, Level::alarm, "bad-loss"});
            if (settings_.stops_on_bad_loss) out.emplace_back(event::Wind{Drain::bad_loss, text});
        }
    }
    if (!p.step) return;
    if (*p.step != step_) {
        step_at_ = now;
        alive_at_ = now;
        step_ = *p.step;
        if (step_ > highest_) {
            highest_ = step_;
            new_at_ = now;
        }
    }
    ledger_.progress(*p.step, now);
    out.emplace_back(event::Progress{*p.step});
}

void Observer::lines_end(Instant now) {
    if (!step_at_ || *step_at_ != now) return;
    spans_.told(step_, now);
    if (!timed_.empty() && step_ <= timed_.back().step) timed_.clear();
    timed_.push_back({now, step_});
    if (timed_.size() > kMostTimed) timed_.pop_front();
}

void Observer::alive(Instant now) { alive_at_ = now; }

void Observer::saved(std::int64_t step, Instant now) {
    ledger_.saved(step, now);
    alive_at_ = now;
    new_at_ = now;
}

std::optional<Seconds> Observer::step_time() const {
    if (timed_.size() < kFewestTimed) return std::nullopt;
    std::vector<double> times;
    for (std::size_t i = 1; i < timed_.size(); ++i) {
        times.push_back((timed_[i].time - timed_[i - 1].time) / kSecond /
                        static_cast<double>(timed_[i].step - timed_[i - 1].step));
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    if (*middle * kSecond >= kCoarse) return *middle * kSecond;
    // Short ones are told apart no better than the log is read: the mean of all.
    return (timed_.back().time - timed_.front().time) /
           static_cast<double>(timed_.back().step - timed_.front().step);
}

std::optional<Seconds> Observer::hang_limit() const {
    if (!settings_.watches_hangs) return std::nullopt;
    if (!step_at_) return settings_.start_limit;
    if (settings_.hang_after) return settings_.hang_after;
    const auto usual = step_time();
    if (!usual) return settings_.start_limit;
    return std::max(kHangSteps * *usual, kHangAtLeast);
}

void Observer::watch_hang(Instant now, std::vector<Event>& out) {
    const auto limit = hang_limit();
    if (!limit || has_told_hang_ || !alive_at_ || now - *alive_at_ < *limit) return;
    has_told_hang_ = true;
    std::string text = fmt::format("no progress for {}", format_duration(now - *alive_at_));
    if (const auto usual = step_time()) {
        text += fmt::format(", a step usually takes {}", format_duration(*usual));
    } else if (!step_at_) {
        text += " since the command was started";
    }
    out.emplace_back(event::Hang{std::move(text)});
}

void Observer::watch_money(Seconds wind_down, std::vector<Event>& out) {
    const auto spent = cost();
    if (!spent || !settings_.budget || has_told_budget_) return;
    const double share = *spent / *settings_.budget;
    for (const double warning : kWarnings) {
        if (share < warning || warned_ >= warning) continue;
        warned_ = warning;
        out.emplace_back(
            event::Remark{fmt::format("{} of {} spent ({:.0f} %)", format_usd_cents(*spent),
                                      format_usd_cents(*settings_.budget), 100 * share),
                          Level::warning, "budget"});
    }
    // What the other nodes spend is known a little later.
    const Seconds late = nodes_ > 1 ? kOthersTold : 0 * kSecond;
    const Usd kept = *settings_.price * static_cast<double>(nodes_) * (wind_down + late);
    if (*spent + kept < *settings_.budget) return;
    has_told_budget_ = true;
    out.emplace_back(event::Wind{
        Drain::budget, fmt::format("{} of {} are spent and {} are kept for saving and ending",
                                   format_usd_cents(*spent), format_usd_cents(*settings_.budget),
                                   format_usd_cents(kept))});
}

void Observer::tick(Machine::Phase phase, Seconds wind_down, Instant now, std::vector<Event>& out) {
    using Phase = Machine::Phase;
    const bool winds_down =
        phase == Phase::saving || phase == Phase::ending || phase == Phase::flushing;
    if (winds_down && ledger_.activity() != Ledger::Activity::ending) {
        ledger_.set(Ledger::Activity::ending, now);
    }
    if (!winds_down && phase != Phase::running) ledger_.set(Ledger::Activity::waiting, now);
    if (phase == Phase::running && is_running_ && ledger_.activity() == Ledger::Activity::ending) {
        ledger_.set(Ledger::Activity::training, now);  // a notice was taken back
    }
    ledger_.pass(now);
    if (phase == Phase::running) watch_hang(now, out);
    if (winds_down || phase == Phase::finished) return;
    watch_money(wind_down, out);
    if (settings_.idle_after && new_at_ && !has_told_idle_ &&
        now - *new_at_ >= *settings_.idle_after) {
        has_told_idle_ = true;
        out.emplace_back(event::Wind{
            Drain::idle, fmt::format("nothing new for {}: no step that was not done before, no "
                                     "checkpoint",
                                     format_duration(now - *new_at_))});
    }
}

void Observer::others_cost(Usd cost, int nodes) {
    others_cost_ = cost;
    nodes_ = nodes;
}

std::optional<Usd> Observer::cost() const {
    const auto own = own_cost();
    if (!own) return own;
    return *own + others_cost_;
}

std::optional<Usd> Observer::own_cost() const {
    if (!settings_.price) return std::nullopt;
    return *settings_.price * ledger_.spent().total();
}

namespace {

class Metrics {
  public:
    void add(const char* name, const char* type, const char* help, double value) {
        head(name, type, help);
        text_ += fmt::format("{} {}\n", name, value);
    }
    void head(const char* name, const char* type, const char* help) {
        text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
    }
    void labelled(const char* name, const char* label, const char* value, double number) {
        text_ += fmt::format("{}{{{}=\"{}\"}} {}\n", name, label, value, number);
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

}  // namespace

std::string metrics_text(const Observer& o, const Machine& machine, Instant /*now*/) {
    const Memory& m = machine.memory();
    const TimeSpent& t = o.ledger().spent();
    Metrics out;
    out.add("trainyard_step", "gauge", "Last step that the log told.",
            static_cast<double>(o.step()));
    out.add("trainyard_saved_step", "gauge", "Newest complete checkpoint on disk; -1: none.",
            static_cast<double>(m.saved));
    out.add("trainyard_committed_step", "gauge", "Newest checkpoint in the store; -1: none.",
            static_cast<double>(m.committed));
    out.add("trainyard_attempts_total", "counter", "Starts of the command.", m.attempts);
    out.add("trainyard_preemptions_total", "counter", "Interruptions of the machine.",
            m.preemptions);
    out.add("trainyard_failures_in_a_row", "gauge", "Failures since the last new checkpoint.",
            static_cast<double>(m.failures.size()));
    out.add("trainyard_up", "gauge", "1 while the command runs.",
            machine.phase() == Machine::Phase::running ? 1 : 0);
    constexpr const char* kTime = "trainyard_time_seconds_total";
    out.head(kTime, "counter", "Where the time of the run went.");
    out.labelled(kTime, "kind", "useful", t.useful / kSecond);
    out.labelled(kTime, "kind", "open", t.open / kSecond);
    out.labelled(kTime, "kind", "lost", t.lost / kSecond);
    out.labelled(kTime, "kind", "starting", t.starting / kSecond);
    out.labelled(kTime, "kind", "waiting", t.waiting / kSecond);
    out.labelled(kTime, "kind", "ending", t.ending / kSecond);
    if (const auto g = t.goodput()) {
        out.add("trainyard_goodput_ratio", "gauge", "Useful time over all time.", *g);
    }
    if (o.loss()) out.add("trainyard_loss", "gauge", "Last loss that the log told.", *o.loss());
    if (const auto s = o.step_time()) {
        out.add("trainyard_step_seconds", "gauge", "Median of the last step times.", *s / kSecond);
    }
    if (o.speed()) {
        out.add("trainyard_tokens_per_second", "gauge", "Last speed that the log told.",
                *o.speed() / kTokensPerSecond);
    }
    if (const auto c = o.cost()) {
        out.add("trainyard_cost_usd", "gauge", "Time of the run at its price.", *c / kUsd);
    }
    return out.take();
}

}  // namespace trainyard::agent

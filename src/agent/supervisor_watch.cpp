// What the supervisor sees: the log, the checkpoints, the attempt, time and money.

#include <fmt/format.h>

#include <algorithm>

#include "supervision.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::agent {

void Supervisor::read_log(bool to_the_end) {
    if (!tail_) return;
    std::string bytes;
    std::vector<Event> events;
    const Instant read_at = now();
    do {
        bytes = tail_->read(kPiece);
        for (const std::string& line : lines_.feed(bytes)) {
            const LogProgress p =
                settings_.pattern ? settings_.pattern->read(line) : read_progress(line);
            if (p.has_any()) observer_.line(p, read_at, events);
        }
    } while (to_the_end && !bytes.empty());
    observer_.lines_end(read_at);
    for (const Event& event : events) feed(event);
}

void Supervisor::show_log() {
    if (!display_ || settings_.display < 0) return;
    while (true) {
        if (shown_.empty()) shown_ = display_->read(kPiece);
        if (shown_.empty()) return;
        const std::int64_t n = sys::write_some(settings_.display, shown_);
        if (n < 0) {
            display_.reset();  // nobody reads any more: the log has it all
            return;
        }
        if (n == 0) return;  // the reader is slow: later
        shown_.erase(0, static_cast<std::size_t>(n));
    }
}

void Supervisor::look_at_checkpoints(bool no_writers) {
    const bool is_urgent = machine_->phase() == Machine::Phase::saving;
    next_look_ = now() + (is_urgent ? kUrgentLook : kLook);
    if (!attempt_ || (place_ && place_->rank != 0)) return;  // rank 0 tells the others
    for (const LocalCheckpoint& c : scanner_.look(no_writers)) {
        saved_name_ = c.path.substr(c.path.rfind('/') + 1);
        feed(event::Saved{c.path, c.step, c.found.tree.bytes});
    }
}

void Supervisor::look_at_attempt() {
    if (!attempt_ || !row_ || row_->ended_ns != 0) return;
    const auto outcome = attempt_->poll();
    if (!outcome) return;
    read_log(true);
    show_log();
    must_terminate_ = false;
    const bool is_clean = *outcome == AttemptOutcome{};
    look_at_checkpoints(is_clean);
    row_->ended_ns = env_.now_ns();
    row_->last_step = machine_->memory().step;
    row_->outcome = describe(*outcome);
    note(journal_.save(*row_));
    attempt_.reset();
    observer_.attempt_ends(now(), is_clean);
    AttemptOutcome told = *outcome;
    const bool was_rebooted = !row_->keeper.boot.empty() && row_->keeper.boot != env_.self().boot;
    if (told.kind == AttemptOutcome::Kind::lost && was_rebooted) {
        told.kind = AttemptOutcome::Kind::rebooted;
    }
    feed(event::Ended{told});
}

void Supervisor::remember(bool is_urgent) {
    if (!is_urgent && now() - last_remembered_ < kRemember) return;
    last_remembered_ = now();
    note(journal_.save(machine_->memory()));
    write_spent();
    if (now() >= next_record_) write_record();
}

namespace {

struct SpentKey {
    const char* key;
    Seconds TimeSpent::* part;
};
constexpr SpentKey kSpent[] = {
    {"useful_ms", &TimeSpent::useful},   {"open_ms", &TimeSpent::open},
    {"lost_ms", &TimeSpent::lost},       {"starting_ms", &TimeSpent::starting},
    {"waiting_ms", &TimeSpent::waiting}, {"ending_ms", &TimeSpent::ending}};

}  // namespace

TimeSpent Supervisor::spent_before(Journal& journal) {
    TimeSpent spent;
    for (const SpentKey& k : kSpent) {
        spent.*k.part = static_cast<double>(journal.get_integer(k.key).value_or(0)) * kMillisecond;
    }
    return spent;
}

void Supervisor::write_spent() {
    Journal::Values values;
    for (const SpentKey& k : kSpent) {
        const double ms = observer_.ledger().spent().*k.part / kMillisecond;
        values.emplace_back(k.key, std::to_string(static_cast<std::int64_t>(ms)));
    }
    const auto put = [&](const char* key, std::optional<double> value) {
        if (value) values.emplace_back(key, fmt::format("{}", *value));
    };
    const Observer& o = observer_;
    put("loss", o.loss());
    if (o.speed()) put("tokens_per_s", *o.speed() / kTokensPerSecond);
    if (o.step_time()) put("step_time_s", *o.step_time() / kSecond);
    if (settings_.planned_step) put("planned_step_time_s", *settings_.planned_step / kSecond);
    if (o.cost()) put("cost_usd", *o.cost() / kUsd);
    if (settings_.observer.budget) put("budget_usd", *settings_.observer.budget / kUsd);
    if (o.last_step()) put("last_step", static_cast<double>(*o.last_step()));
    note(journal_.set(values));
}

void Supervisor::write_record() {
    next_record_ = now() + kRecord;
    const RecordHead head{run_id_, env_.now_ns(), machine_->memory().attempts, settings_.plan};
    const auto written =
        sys::write_file(settings_.state + "/record.json", record_text(head, observer_));
    if (!written) note(written.error());
}

/// What shows that the command lives though its log is silent.
void Supervisor::look_for_life() {
    if (!attempt_) return;
    const auto beat = env_.status(attempt_->directory() + "/heartbeat");
    if (beat && beat->modified_ns != heartbeat_ns_) {
        heartbeat_ns_ = beat->modified_ns;
        observer_.alive(now());
    }
    if (scanner_.last_write_ns() > write_ns_) {
        write_ns_ = scanner_.last_write_ns();
        observer_.alive(now());
    }
}

void Supervisor::observe() {
    next_observation_ = now() + kObserve;
    look_for_life();
    std::vector<Event> events;
    const Seconds wind_down =
        machine_->wind_down() + settings_.policy.grace + settings_.policy.margin;
    observer_.tick(machine_->phase(), wind_down, now(), events);
    for (Event& event : events) {
        if (auto* hang = std::get_if<event::Hang>(&event); hang != nullptr && attempt_) {
            hang->evidence += attempt_->states();
        }
        feed(event);
    }
    publish();
}

void Supervisor::publish() {
    if (metrics_) metrics_->publish(metrics_text(observer_, *machine_, now()));
}

}  // namespace trainyard::agent

#include "trainyard/agent/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "trainyard/base/text.hpp"

namespace trainyard::agent {

using action::Say;
using Level = Say::Level;

const std::string Machine::kNothing;

namespace {

/// Failures to read the checkpoints at all before it is given up.
constexpr int kMostPrepareFailures = 20;
constexpr double kJitter = 0.2;  ///< of a backoff, so that many nodes do not come back at once

Ending ending_of(Drain why) {
    switch (why) {
        case Drain::notice:
        case Drain::terminate:
            return Ending::preempted;
        case Drain::interrupt:
            return Ending::interrupted;
        case Drain::stop:
            return Ending::stopped;
        case Drain::budget:
            return Ending::out_of_budget;
        case Drain::idle:
            return Ending::idle;
        case Drain::bad_loss:
            return Ending::bad_loss;
        case Drain::regroup:
            break;  // the run goes on
    }
    return Ending::stopped;
}

std::string seconds(Seconds t) { return format_duration(std::max(t, 0 * kSecond)); }

}  // namespace

std::string_view name(Ending ending) {
    switch (ending) {
        case Ending::done:
            return "done";
        case Ending::world:
            return "world";
        case Ending::preempted:
            return "preempted";
        case Ending::poison_step:
            return "poison-step";
        case Ending::out_of_restarts:
            return "out-of-restarts";
        case Ending::out_of_budget:
            return "out-of-budget";
        case Ending::idle:
            return "idle";
        case Ending::stopped:
            return "stopped";
        case Ending::bad_loss:
            return "bad-loss";
        case Ending::interrupted:
            return "interrupted";
    }
    return "?";
}

std::string_view name(Drain drain) {
    static constexpr std::array<std::string_view, 8> kNames = {
        "interruption notice", "SIGTERM", "Ctrl-C", "stop", "budget", "idle", "loss", "regroup"};
    return kNames[static_cast<std::size_t>(drain)];
}

std::string describe(const AttemptOutcome& outcome) {
    switch (outcome.kind) {
        case AttemptOutcome::Kind::exited:
            return fmt::format("exit code {}", outcome.number);
        case AttemptOutcome::Kind::signalled: {
            // 9 that we did not send is the kernel's memory killer more often than a person.
            constexpr int kKilled = 9;
            const char* words = ::sigabbrev_np(outcome.number);
            return fmt::format("signal {} (SIG{}{})", outcome.number, words ? words : "?",
                               outcome.number == kKilled ? "; out of memory? see dmesg" : "");
        }
        case AttemptOutcome::Kind::not_started:
            return fmt::format("it cannot be started: {}", std::strerror(outcome.number));
        case AttemptOutcome::Kind::no_keeper:
            return fmt::format("no process could be started for it: {}",
                               std::strerror(outcome.number));
        case AttemptOutcome::Kind::lost:
            return "it vanished: how it ended is not known";
        case AttemptOutcome::Kind::rebooted:
            return "the machine was restarted";
    }
    return "?";
}

Machine::Machine(Policy policy, Memory memory, std::uint64_t seed)
    : policy_(policy), memory_(std::move(memory)), random_(seed, 0) {}

std::vector<Action> Machine::handle(const Event& event, Instant now) {
    Actions out;
    if (phase_ == Phase::finished) return out;
    std::visit([&](const auto& e) { on(e, now, out); }, event);
    return out;
}

std::optional<Ending> Machine::comes_to() const {
    if (phase_ == Phase::flushing || phase_ == Phase::finished) return ending_;
    if (given_up_) return given_up_;
    if (!drain_ || drain_->why == Drain::regroup) return std::nullopt;
    return ending_of(drain_->why);
}

std::optional<Drain> Machine::drain() const {
    if (!drain_) return std::nullopt;
    return drain_->why;
}
std::optional<Instant> Machine::drain_deadline() const {
    if (!drain_) return std::nullopt;
    return drain_->deadline;
}
std::optional<BytesPerSecond> Machine::upload_rate() const { return rate_; }

Seconds Machine::wind_down() const {
    Seconds needed = save_took_.value_or(0 * kSecond);
    return needed + upload_takes(last_bytes_);
}

Seconds Machine::upload_takes(std::uint64_t bytes) const {
    if (!policy_.has_store || bytes == 0) return 0 * kSecond;
    if (forecast_) return forecast_->needed(bytes);
    return rate_ ? static_cast<double>(bytes) * kByte / *rate_ : 0 * kSecond;
}

Seconds Machine::upload_left(Instant now) const {
    if (!is_putting_) return 0 * kSecond;
    return std::max(upload_takes(putting_bytes_) - (now - putting_since_), 0 * kSecond);
}

Seconds Machine::commit_margin() const {
    constexpr double kShare = 0.25;  // of a window; of 120 s it would be 30
    if (!drain_ || !policy_.has_store) return policy_.margin;
    const Seconds window = drain_->deadline - drain_->asked;
    return std::max(policy_.margin, std::min(store::kCommitMargin, kShare * window));
}

std::optional<Instant> Machine::wake() const {
    std::optional<Instant> first;
    const auto consider = [&](std::optional<Instant> at) {
        if (at && (!first || *at < *first)) first = at;
    };
    if (phase_ == Phase::finished) return first;
    consider(kill_at_);
    consider(start_at_);
    consider(flush_until_);
    if (waiting_put_ && !is_putting_) consider(put_at_);
    if (phase_ == Phase::saving && drain_) consider(drain_->deadline - policy_.margin);
    return first;
}

void Machine::on(const event::Begin& /*e*/, Instant /*now*/, Actions& out) {
    if (policy_.has_group) return join(out);
    go(out);
}

void Machine::go(Actions& out) {
    phase_ = Phase::preparing;
    out.emplace_back(action::Prepare{generation_});
}

void Machine::on(const event::Adopted& e, Instant /*now*/, Actions& out) {
    phase_ = Phase::running;
    memory_.attempts = std::max(memory_.attempts, e.attempt);
    if (!e.is_alive) return;
    out.emplace_back(
        Say{Level::info, "adopted",
            fmt::format("attempt {} of an earlier supervisor still runs: taken over", e.attempt),
            memory_.step});
}

void Machine::on(const event::Prepared& e, Instant now, Actions& out) {
    if (phase_ != Phase::preparing || e.generation != generation_) return;
    if (drain_) return flush(ending_of(drain_->why), 0 * kSecond, now, out);
    failure_.clear();
    memory_.attempts += 1;
    memory_.resumed = e.step;
    memory_.step = e.step;
    memory_.saved = e.step;
    // What is in the store beyond the point we begin from could not be read: it is made again.
    memory_.committed = std::min(e.stored, e.step);
    phase_ = Phase::running;
    out.emplace_back(action::Start{memory_.attempts, e.from, e.step});
}

void Machine::on(const event::PrepareFailed& e, Instant now, Actions& out) {
    if (phase_ != Phase::preparing || e.generation != generation_) return;
    out.emplace_back(Say{Level::warning, "prepare-failed", e.why});
    if (drain_) return flush(ending_of(drain_->why), 0 * kSecond, now, out);
    if (e.is_final || ++prepare_failures_ >= kMostPrepareFailures) {
        return flush(Ending::world, 0 * kSecond, now, out);
    }
    phase_ = Phase::waiting;
    const double doublings = std::min(prepare_failures_ - 1, 20);
    start_at_ = now + std::min(policy_.most_backoff, policy_.first_backoff * std::exp2(doublings));
}

void Machine::on(const event::Progress& e, Instant /*now*/, Actions& out) {
    if (memory_.step < 0 || memory_.step == memory_.resumed) {
        if (memory_.resumed > 0 && e.step < memory_.resumed) {
            out.emplace_back(
                Say{Level::alarm, "not-resumed",
                    fmt::format("the command began at step {} though step {} was handed over in "
                                "TRAINYARD_RESUME_FROM: work is done twice",
                                e.step, memory_.resumed),
                    e.step});
        }
    }
    memory_.step = e.step;
}

void Machine::on(const event::Saved& e, Instant now, Actions& out) {
    memory_.saved = std::max(memory_.saved, e.step);
    last_bytes_ = e.bytes;
    if (e.step > memory_.resumed) {
        memory_.failures.clear();  // it moves: the next failure is the first again
        const std::string size = format_bytes(static_cast<double>(e.bytes) * kByte);
        out.emplace_back(Say{Level::info, "saved",
                             is_uploader_
                                 ? fmt::format("step {} is complete on disk ({})", e.step, size)
                                 : fmt::format("step {} is complete on node 0", e.step),
                             e.step});
    }
    if (std::exchange(asked_early_, false) && !drain_) out.emplace_back(action::TakeBackAsk{});
    if (drain_ && drain_->has_asked && e.step > drain_->saved_before) {
        save_took_ = now - drain_->asked;
        out.emplace_back(action::TakeBackAsk{});
    }
    if (policy_.has_store && is_uploader_ && e.step > memory_.committed) {
        waiting_put_ = Waiting{e.path, e.step, e.bytes};
        if (!is_putting_ && put_failures_ == 0) put_at_ = now;
        put_next(now, out);
    }
    if (phase_ == Phase::saving && is_safe()) end_command(now, out);
}

void Machine::on(const event::Committed& e, Instant now, Actions& out) {
    is_putting_ = false;
    put_failures_ = 0;
    memory_.committed = std::max(memory_.committed, e.step);
    if (e.sent > 0 && e.took > 0 * kSecond) rate_ = static_cast<double>(e.sent) * kByte / e.took;
    out.emplace_back(
        Say{Level::info, "committed",
            fmt::format("step {} is in the store ({} sent in {})", e.step,
                        format_bytes(static_cast<double>(e.sent) * kByte), seconds(e.took)),
            e.step});
    put_at_ = now;
    put_next(now, out);
    if (phase_ == Phase::saving && is_safe()) return end_command(now, out);
    if (phase_ == Phase::flushing && !has_upload_left()) finish(out);
}

void Machine::on(const event::PutFailed& e, Instant now, Actions& out) {
    const std::int64_t step = std::exchange(putting_step_, -1);
    is_putting_ = false;
    ++put_failures_;
    const Seconds pause =
        std::min(kMinute, 2.0 * kSecond * std::exp2(std::min(put_failures_ - 1, 10)));
    out.emplace_back(Say{put_failures_ == 1 ? Level::warning : Level::alarm, "put-failed",
                         fmt::format("step {} is not in the store yet: {}{}", step, e.why,
                                     e.is_final ? "" : "; trying again"),
                         step});
    if (e.is_final && waiting_put_ && waiting_put_->step == step) waiting_put_.reset();
    put_at_ = now + pause;
    if (e.is_final && phase_ == Phase::saving && !has_upload_left()) {
        out.emplace_back(Say{Level::warning, "too-late", "given up: " + standing(), step});
        return end_command(now, out);
    }
    if (phase_ == Phase::flushing && !has_upload_left()) finish(out);
}

void Machine::put_next(Instant now, Actions& out) {
    if (is_putting_ || !waiting_put_ || (put_at_ && now < *put_at_)) return;
    if (waiting_put_->step <= memory_.committed) {
        waiting_put_.reset();
        return;
    }
    is_putting_ = true;
    putting_step_ = waiting_put_->step;
    putting_bytes_ = waiting_put_->bytes;
    putting_since_ = now;
    // It stays the one to send until it is committed: a failure tries it, or a newer one, again.
    out.emplace_back(action::Put{waiting_put_->path, waiting_put_->step});
}

std::string Machine::standing() const {
    const std::int64_t step = policy_.has_store ? memory_.committed : memory_.saved;
    if (step < 0) return "no checkpoint stands";
    return fmt::format("the last one {} stands: step {}", policy_.has_store ? "committed" : "saved",
                       step);
}

bool Machine::is_safe() const {
    if (!drain_ || memory_.saved <= drain_->saved_before) return false;
    return !policy_.has_store || memory_.committed >= memory_.saved;
}

void Machine::begin_drain(Drain why, std::string what, Instant deadline, Instant now,
                          Actions& out) {
    if (drain_) {
        // Two notices, or a notice after a stop: the earlier deadline rules.
        if (deadline < drain_->deadline) drain_->deadline = deadline;
        const bool is_taken = why == Drain::notice || why == Drain::terminate;
        if (drain_->why == Drain::regroup || (is_taken && drain_->why != Drain::notice)) {
            if (is_taken && drain_->why == Drain::regroup) ++memory_.preemptions;
            drain_->why = why;
        }
        if (flush_until_) flush_until_ = std::min(*flush_until_, drain_->deadline);
        return;
    }
    out.emplace_back(
        Say{why == Drain::notice || why == Drain::terminate ? Level::warning : Level::info, "drain",
            fmt::format("{}; {} left", what, seconds(deadline - now)), memory_.step});
    if (why == Drain::notice || why == Drain::terminate) ++memory_.preemptions;
    drain_ = Draining{why, std::move(what), now, deadline, memory_.saved, false};
    switch (phase_) {
        case Phase::running:
            return begin_saving(now, out);
        case Phase::waiting:
        case Phase::joining:
        case Phase::awaiting:
            start_at_.reset();
            return flush(ending_of(why), deadline - now, now, out);
        case Phase::flushing:
            flush_until_ = std::min(*flush_until_, deadline);
            return;
        case Phase::idle:
        case Phase::preparing:
        case Phase::ending:
        case Phase::saving:
        case Phase::finished:
            return;
    }
}

void Machine::begin_saving(Instant now, Actions& out) {
    if (drain_->why == Drain::bad_loss) {
        // A checkpoint of now would be the newest, and worthless.
        waiting_put_.reset();
        return end_command(now, out);
    }
    if (!policy_.has_checkpoints) return end_command(now, out);
    const Seconds left = drain_->deadline - now - commit_margin();
    const Seconds needed = wind_down() + upload_left(now);
    if (left <= 0 * kSecond || needed > left) {
        out.emplace_back(
            Say{Level::warning, "does-not-fit",
                fmt::format("a checkpoint needs about {} and {} are left: none is asked for; {}",
                            seconds(needed), seconds(left), standing()),
                memory_.step});
        return end_command(now, out);
    }
    phase_ = Phase::saving;
    drain_->has_asked = true;
    out.emplace_back(action::AskCheckpoint{});
    out.emplace_back(
        Say{Level::info, "asked", "a checkpoint is asked for (file and SIGUSR1)", memory_.step});
}

void Machine::end_command(Instant now, Actions& out) {
    if (phase_ == Phase::saving && is_safe()) {
        out.emplace_back(Say{Level::info, "safe",
                             fmt::format("step {} is safe: ending the command", memory_.saved),
                             memory_.saved});
    }
    phase_ = Phase::ending;
    Seconds grace = policy_.grace;
    if (drain_) grace = std::min(grace, std::max(drain_->deadline - now, kSecond));
    if (drain_ && drain_->why == Drain::regroup) grace = std::min(grace, policy_.regroup_grace);
    kill_at_ = now + grace;
    out.emplace_back(action::Terminate{});
}

void Machine::on(const event::Ended& e, Instant now, Actions& out) {
    if (phase_ != Phase::running && phase_ != Phase::saving && phase_ != Phase::ending) return;
    kill_at_.reset();
    const AttemptOutcome& o = e.outcome;
    if (o.kind == AttemptOutcome::Kind::no_keeper && !drain_) {
        phase_ = Phase::preparing;  // the machine's fault, not the command's
        return on(event::PrepareFailed{describe(o), false, generation_}, now, out);
    }
    prepare_failures_ = 0;
    const bool is_clean = o.kind == AttemptOutcome::Kind::exited && o.number == 0;
    command_code_ = o.kind == AttemptOutcome::Kind::signalled ? 128 + o.number : o.number;
    if (drain_) {
        out.emplace_back(action::TakeBackAsk{});
        if (drain_->why == Drain::regroup) return join(out);
        // It may have written its last checkpoint on the way out: the world looks before it says
        // that the uploads are over.
        return flush(ending_of(drain_->why), drain_->deadline - now, now, out);
    }
    if (!hang_.empty()) return fail(std::exchange(hang_, {}), now, out);
    if (is_clean) {
        out.emplace_back(Say{Level::info, "ended", "the command ended with 0", memory_.step});
        if (policy_.has_group) {
            phase_ = Phase::awaiting;
            return;
        }
        return flush(Ending::done, policy_.flush_window, now, out);
    }
    // Out of memory or of processes goes by; a program that is not there does not come.
    const bool may_pass = o.number == EAGAIN || o.number == ENOMEM || o.number == EMFILE ||
                          o.number == ENFILE || o.number == EIO;
    if (o.kind == AttemptOutcome::Kind::not_started && !may_pass) {
        out.emplace_back(Say{Level::alarm, "not-started", "the command: " + describe(o)});
        return flush(Ending::world, 0 * kSecond, now, out);
    }
    if (o.kind == AttemptOutcome::Kind::rebooted) {
        out.emplace_back(Say{Level::warning, "lost", describe(o), memory_.step});
        return policy_.has_group ? join(out) : go(out);
    }
    fail(describe(o), now, out);
}

void Machine::fail(std::string cause, Instant now, Actions& out) {
    failure_ = cause;
    memory_.failures.push_back({memory_.attempts, memory_.step, cause});
    const auto final = verdict();
    const Seconds pause = backoff();
    const std::size_t count = memory_.failures.size();
    std::string text = fmt::format("attempt {} failed at step {}: {}", memory_.attempts,
                                   memory_.step < 0 ? "?" : std::to_string(memory_.step), cause);
    if (!final) text += fmt::format("; failure {} in a row, next try in {}", count, seconds(pause));
    out.emplace_back(Say{Level::warning, "failed", std::move(text), memory_.step});
    if (final) return flush(*final, policy_.flush_window, now, out);
    phase_ = Phase::waiting;
    start_at_ = now + pause;
}

std::optional<Ending> Machine::verdict() const {
    const auto& all = memory_.failures;
    int same = 0;
    for (auto at = all.rbegin(); at != all.rend() && at->step == all.back().step; ++at) ++same;
    if (same >= policy_.poison_after) return Ending::poison_step;
    if (static_cast<int>(all.size()) > policy_.max_restarts) return Ending::out_of_restarts;
    return std::nullopt;
}

Seconds Machine::backoff() {
    const auto doublings = static_cast<double>(std::min<std::size_t>(memory_.failures.size(), 30));
    const Seconds full =
        std::min(policy_.most_backoff, policy_.first_backoff * std::exp2(doublings - 1));
    return full * (1 - kJitter + 2 * kJitter * random_.uniform());
}

void Machine::on(const event::Notice& e, Instant now, Actions& out) {
    begin_drain(Drain::notice, e.what, e.deadline.value_or(now + policy_.notice_window), now, out);
}

void Machine::on(const event::NoticeGone& /*e*/, Instant /*now*/, Actions& out) {
    if (!drain_ || drain_->why != Drain::notice || phase_ != Phase::saving) return;
    out.emplace_back(action::TakeBackAsk{});
    out.emplace_back(Say{Level::warning, "notice-gone",
                         "the notice was taken back: the run goes on", memory_.step});
    --memory_.preemptions;
    drain_.reset();
    phase_ = Phase::running;
}

void Machine::on(const event::Wind& e, Instant now, Actions& out) {
    if (drain_ && e.why == Drain::interrupt && drain_->why == Drain::interrupt) {
        // The second Ctrl-C: no more waiting.
        if (phase_ == Phase::saving) return end_command(now, out);
        if (phase_ == Phase::ending) kill_at_ = now;
        if (phase_ == Phase::flushing) flush_until_ = now;
        return on(event::Tick{}, now, out);
    }
    const Seconds window = e.why == Drain::terminate ? policy_.term_window : policy_.stop_window;
    begin_drain(e.why, e.what, now + window, now, out);
}

void Machine::on(const event::Hang& e, Instant now, Actions& out) {
    if (phase_ != Phase::running || !hang_.empty()) return;
    hang_ = "hang: " + e.evidence;
    out.emplace_back(Say{Level::alarm, "hang", e.evidence, memory_.step});
    end_command(now, out);
}

void Machine::on(const event::Tick& /*e*/, Instant now, Actions& out) {
    if (kill_at_ && now >= *kill_at_) {
        kill_at_.reset();
        out.emplace_back(Say{Level::warning, "kill", "the command did not end on SIGTERM: SIGKILL",
                             memory_.step});
        out.emplace_back(action::Kill{});
    }
    if (phase_ == Phase::saving && now >= drain_->deadline - policy_.margin) {
        out.emplace_back(
            Say{Level::warning, "too-late",
                fmt::format("the window is over before the checkpoint is {}; {}",
                            memory_.saved > drain_->saved_before ? "in the store" : "complete",
                            standing()),
                memory_.step});
        end_command(now, out);
    }
    if (phase_ == Phase::waiting && start_at_ && now >= *start_at_) {
        start_at_.reset();
        // A checkpoint that could not be read is tried again in the same generation.
        const bool must_join = policy_.has_group && !failure_.empty();
        must_join ? join(out) : go(out);
    }
    put_next(now, out);
    if (phase_ == Phase::flushing) {
        if (flush_until_ && now >= *flush_until_ && has_upload_left()) {
            out.emplace_back(Say{Level::warning, "not-uploaded",
                                 fmt::format("step {} is not in the store and the time is over; {}",
                                             memory_.saved, standing()),
                                 memory_.saved});
            out.emplace_back(action::AbandonPut{});
            is_putting_ = false;
            waiting_put_.reset();
        }
        if (!has_upload_left()) finish(out);
    }
}

void Machine::on(const event::Remark& e, Instant /*now*/, Actions& out) {
    out.emplace_back(Say{e.level, e.event, e.text});
}

void Machine::on(const event::Rebalance& e, Instant /*now*/, Actions& out) {
    const bool can_save = phase_ == Phase::running && policy_.has_checkpoints && !drain_;
    out.emplace_back(Say{Level::warning, "rebalance",
                         e.what + (can_save ? ": a checkpoint is asked for, the run goes on" : ""),
                         memory_.step});
    if (!can_save) return;
    asked_early_ = true;
    out.emplace_back(action::AskCheckpoint{});
}

void Machine::flush(Ending ending, Seconds window, Instant now, Actions& out) {
    ending_ = given_up_.value_or(ending);
    phase_ = Phase::flushing;
    flush_until_ = now + std::max(window, 0 * kSecond);
    put_next(now, out);
    if (!has_upload_left()) finish(out);
}

void Machine::finish(Actions& out) {
    phase_ = Phase::finished;
    flush_until_.reset();
    out.emplace_back(action::Finish{ending_, command_code_});
}

}  // namespace trainyard::agent

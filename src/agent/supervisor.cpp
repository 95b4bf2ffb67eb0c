#include "trainyard/agent/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "event_log.hpp"
#include "trainyard/agent/attempt.hpp"
#include "trainyard/agent/journal.hpp"
#include "trainyard/agent/worker.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::agent {

namespace {

constexpr Seconds kLook = 2 * kSecond;          ///< between looks at the checkpoint directory
constexpr Seconds kUrgentLook = kSecond / 5.0;  ///< while a checkpoint is awaited
constexpr Seconds kTail = kSecond / 2.0;        ///< between looks at the log
constexpr Seconds kRemember = 5 * kSecond;      ///< between writes of the step
constexpr std::size_t kPiece = std::size_t{64} << 10U;

std::string words_of(const Error& error) {
    std::string text;
    for (const Diagnostic& d : error.diagnostics) {
        if (!text.empty()) text += "; ";
        text += d.what;
        if (!d.why.empty()) text += " (" + d.why + ")";
    }
    return text;
}

std::string text_of(const std::vector<std::string>& command) {
    doc::Node list = doc::Node::list();
    for (const std::string& word : command) list.append(doc::Node::string(word));
    return doc::write_json(list);
}

Error in_use(const std::string& state, std::string what, std::string fix) {
    return {ErrorKind::usage,
            {{.where = {state, 0, 0}, .what = std::move(what), .why = {}, .fix = std::move(fix)}}};
}

class Supervisor {
  public:
    Supervisor(sys::Env& env, const Settings& settings, Journal& journal, sys::Descriptor lock)
        : env_(env),
          settings_(settings),
          journal_(journal),
          lock_(std::move(lock)),
          log_(settings.state + "/events.jsonl", env),
          scanner_(env, settings.place) {}

    Result<RunResult> run();

  private:
    Instant now() { return static_cast<double>(env_.steady_ns()) * 1e-9 * kSecond; }
    std::string request_file() const { return settings_.state + "/checkpoint-request"; }
    AttemptSettings attempt_settings(int number);

    std::optional<Error> take_up();
    void adopt(const AttemptRow& row);
    void loop();
    void wait();
    void feed(const Event& event);
    void perform(const Action& action);
    void start(const action::Start& start);
    void put(const action::Put& put);
    void ask_checkpoint();
    void say(const action::Say& said);
    void finish(const action::Finish& finish);

    void hear_signals();
    void hear_requests();
    void hear_mail();
    void read_log(bool to_the_end);
    void show_log();
    void look_at_checkpoints(bool no_writers);
    void look_at_attempt();
    void remember(bool is_urgent);
    void note(const std::optional<Error>& error);

    sys::Env& env_;
    const Settings& settings_;
    Journal& journal_;
    sys::Descriptor lock_;
    EventLog log_;
    Scanner scanner_;
    std::optional<Machine> machine_;
    std::optional<Attempt> attempt_;
    std::optional<AttemptRow> row_;
    std::string run_id_;
    std::string evidence_log_;
    std::optional<LogTail> tail_;     ///< for progress
    std::optional<LogTail> display_;  ///< for the terminal
    std::string shown_;               ///< read for the terminal, not written yet
    LineSplitter lines_;
    bool must_terminate_ = false;
    bool journal_failed_ = false;
    Instant next_look_;
    Instant last_remembered_;
    std::optional<RunResult> result_;
    Mailbox mail_;
    // Last, so that their threads end before what they use.
    Worker uploads_;
    Worker preparations_;
    std::optional<ImdsThread> imds_;
};

AttemptSettings Supervisor::attempt_settings(int number) {
    AttemptSettings s;
    s.number = number;
    s.directory = fmt::format("{}/attempts/{:04}", settings_.state, number);
    s.run_id = run_id_;
    s.command = settings_.command;
    s.checkpoint_directory = settings_.place.directory;
    s.request_file = request_file();
    return s;
}

void Supervisor::note(const std::optional<Error>& error) {
    if (!error) {
        journal_failed_ = false;
        return;
    }
    // Once: the run goes on, and a full disk would say it at every step.
    if (!journal_failed_) say({action::Say::Level::alarm, "state", words_of(*error)});
    journal_failed_ = true;
}

/// Continues the run that the state describes, or begins a new one in it.
std::optional<Error> Supervisor::take_up() {
    const std::string command = text_of(settings_.command);
    const bool is_same = journal_.get("command").value_or("") == command;
    const bool was_over = !journal_.get("ending").value_or("").empty();
    run_id_ = journal_.get("run_id").value_or("");
    const auto last = journal_.last_attempt();
    const bool is_open = last && last->ended_ns == 0;
    if (is_open && !is_same) {
        const Attempt there = Attempt::adopt(env_, attempt_settings(last->number), last->keeper);
        if (there.is_running()) {
            return in_use(settings_.state, "another command still runs here",
                          "trainyard stop, or name another --state");
        }
    }
    Memory memory = journal_.load();
    if (!is_same || was_over) memory.failures.clear();
    if (!is_same || run_id_.empty()) {
        run_id_ = fmt::format("{:016x}", env_.random());
        memory.saved = memory.committed = memory.step = -1;
    }
    for (auto error :
         {journal_.set("run_id", run_id_), journal_.set("command", command),
          journal_.set("ending", std::string()), journal_.set("supervisor_pid", env_.self().pid),
          journal_.set("supervisor_start", static_cast<std::int64_t>(env_.self().start)),
          journal_.set("supervisor_host", env_.self().host),
          journal_.set("supervisor_boot", env_.self().boot)}) {
        if (error) return error;
    }
    (void)journal_.take_requests();  // of a time before us
    machine_.emplace(settings_.policy, std::move(memory), env_.random());
    if (is_open && is_same) {
        adopt(*last);
    } else {
        (void)env_.unlink(request_file());
        feed(event::Begin{});
    }
    return std::nullopt;
}

void Supervisor::adopt(const AttemptRow& row) {
    row_ = row;
    attempt_ = Attempt::adopt(env_, attempt_settings(row.number), row.keeper);
    const std::int64_t known = settings_.place.repository == nullptr ? machine_->memory().saved
                                                                     : machine_->memory().committed;
    scanner_.start_from(known);
    const auto status = env_.status(attempt_->log());
    const std::uint64_t size = status ? status->size : 0;
    tail_.emplace(env_, attempt_->log(), size > kPiece ? size - kPiece : 0);
    display_.emplace(env_, attempt_->log(), size);
    feed(event::Adopted{row.number, attempt_->is_running()});
}

Result<RunResult> Supervisor::run() {
    if (auto error = take_up()) return *error;
    if (settings_.imds) {
        imds_.emplace(env_, *settings_.imds, [this](Event e) { mail_.post(std::move(e)); });
    }
    while (!result_) {
        wait();
        hear_signals();
        hear_requests();
        hear_mail();
        read_log(false);
        show_log();
        look_at_attempt();
        if (now() >= next_look_) look_at_checkpoints(false);
        const auto due = machine_->wake();
        if (due && now() >= *due) feed(event::Tick{});
        if (must_terminate_ && attempt_) must_terminate_ = !attempt_->terminate();
        remember(false);
    }
    show_log();
    return *result_;
}

void Supervisor::wait() {
    Instant until = std::min(now() + kTail, next_look_);
    if (const auto due = machine_->wake()) until = std::min(until, *due);
    if (!attempt_ && machine_->phase() != Machine::Phase::running) {
        until = std::max(until, now() + kTail / 10.0);
    }
    const double ns = std::max((until - now()) / kSecond, 0.0) * 1e9;
    sys::wait_readable({settings_.signals->descriptor(), mail_.descriptor(),
                        attempt_ ? attempt_->descriptor() : -1},
                       static_cast<std::int64_t>(ns));
}

void Supervisor::feed(const Event& event) {
    const auto actions = machine_->handle(event, now());
    for (const Action& action : actions) perform(action);
    if (!actions.empty()) remember(true);
}

void Supervisor::perform(const Action& action) {
    if (std::holds_alternative<action::Prepare>(action)) {
        preparations_.run([this] {
            const auto tell = [this](std::string text) {
                mail_.post(event::Remark{.text = std::move(text)});
            };
            mail_.post(prepare(env_, settings_.place, tell));
        });
    } else if (const auto* s = std::get_if<action::Start>(&action)) {
        start(*s);
    } else if (std::holds_alternative<action::Terminate>(action)) {
        must_terminate_ = attempt_ && !attempt_->terminate();
    } else if (std::holds_alternative<action::Kill>(action)) {
        if (attempt_) attempt_->kill();
    } else if (std::holds_alternative<action::AskCheckpoint>(action)) {
        ask_checkpoint();
    } else if (std::holds_alternative<action::TakeBackAsk>(action)) {
        (void)env_.unlink(request_file());
    } else if (const auto* p = std::get_if<action::Put>(&action)) {
        put(*p);
    } else if (std::holds_alternative<action::AbandonPut>(action)) {
        if (settings_.abandon_store) settings_.abandon_store();
    } else if (const auto* said = std::get_if<action::Say>(&action)) {
        say(*said);
    } else if (const auto* f = std::get_if<action::Finish>(&action)) {
        finish(*f);
    }
}

void Supervisor::start(const action::Start& start) {
    AttemptSettings s = attempt_settings(start.attempt);
    s.from = start.from;
    s.step = start.step;
    row_ = AttemptRow{.number = start.attempt,
                      .started_ns = env_.now_ns(),
                      .ended_ns = 0,
                      .from_step = start.step,
                      .last_step = start.step,
                      .outcome = {},
                      .directory = s.directory,
                      .keeper = {}};
    // Before and after: a supervisor that dies in between finds the rest in the attempt's files.
    note(journal_.save(*row_));
    say({action::Say::Level::info, "start",
         start.from.empty() ? fmt::format("attempt {} starts from the beginning", start.attempt)
                            : fmt::format("attempt {} resumes at step {} from {}", start.attempt,
                                          start.step, start.from),
         start.step});
    auto begun = Attempt::start(env_, s);
    if (!begun) {
        attempt_.reset();
        return feed(event::Ended{{AttemptOutcome::Kind::not_started, begun.error().code}});
    }
    attempt_ = std::move(*begun);
    row_->keeper = attempt_->keeper();
    note(journal_.save(*row_));
    tail_.emplace(env_, attempt_->log());
    display_.emplace(env_, attempt_->log());
    evidence_log_ = attempt_->log();
    lines_ = {};
    const bool is_stored =
        settings_.place.repository == nullptr || machine_->memory().committed >= start.step;
    scanner_.start_from(is_stored ? start.step : start.step - 1);
}

void Supervisor::put(const action::Put& put) {
    uploads_.run([this, put] {
        const auto found = store::recognise(env_, put.path, settings_.place.recognise);
        if (!found) {
            return mail_.post(event::PutFailed{"it is gone from " + put.path, true});
        }
        store::PutRequest request;
        request.tree = found->tree;
        request.step = put.step;
        request.layout = std::string(store::name(found->layout));
        const Instant begun = now();
        const auto report = settings_.place.repository->put(request);
        if (!report) {
            return mail_.post(event::PutFailed{words_of(report.error()), false});
        }
        mail_.post(event::Committed{put.step, report->sent, now() - begun});
        if (!settings_.has_keep) return;
        const auto pruned = settings_.place.repository->prune(settings_.keep);
        if (!pruned) mail_.post(event::Remark{.text = "prune: " + words_of(pruned.error())});
    });
}

void Supervisor::ask_checkpoint() {
    const std::string text = std::to_string(machine_->memory().step) + "\n";
    const auto written = sys::write_file(request_file(), text);
    const int heard = attempt_ ? attempt_->signal_who_catches(SIGUSR1) : 0;
    next_look_ = now() + kUrgentLook;
    if (!written) say({action::Say::Level::warning, "asked", words_of(written.error())});
    if (heard == 0) {
        say({action::Say::Level::info, "asked",
             "no process of the command catches SIGUSR1: only the file asks", -1});
    }
}

void Supervisor::say(const action::Say& said) {
    log_.write(said, machine_ ? machine_->memory().attempts : 0);
    if (settings_.say) settings_.say(said.level, said.text);
}

void Supervisor::finish(const action::Finish& finish) {
    RunResult result{finish.ending, finish.command_code, machine_->memory(), {}};
    note(journal_.set("ending", std::string(name(finish.ending))));
    if (finish.ending == Ending::poison_step || finish.ending == Ending::out_of_restarts) {
        for (const Failure& f : result.memory.failures) {
            result.evidence.push_back(fmt::format("attempt {} at step {}: {}", f.attempt,
                                                  f.step < 0 ? "?" : std::to_string(f.step),
                                                  f.cause));
        }
        constexpr std::size_t kLines = 8;
        result.evidence.push_back("last lines of " + evidence_log_ + ":");
        for (const std::string& line : last_lines(env_, evidence_log_, kLines)) {
            result.evidence.push_back("  " + line);
        }
    }
    std::string text = fmt::format("the run ends: {}", name(finish.ending));
    if (machine_->drain()) text += " (" + machine_->drain_words() + ")";
    const Memory& m = machine_->memory();
    if (m.committed >= 0) text += fmt::format("; step {} is in the store", m.committed);
    if (m.committed < 0 && m.saved >= 0) text += fmt::format("; step {} is on disk", m.saved);
    say({action::Say::Level::info, "finished", std::move(text), m.step});
    result_ = std::move(result);
}

void Supervisor::hear_signals() {
    for (const int signal : settings_.signals->take()) {
        switch (signal) {
            case SIGTERM:
            case SIGHUP:
                feed(event::Wind{Drain::terminate,
                                 signal == SIGTERM ? "SIGTERM received" : "SIGHUP received"});
                break;
            case SIGINT:
                feed(event::Wind{Drain::interrupt, "Ctrl-C"});
                break;
            case SIGUSR1:
                // What a scheduler sends before the end (Slurm's --signal) is for the command.
                if (attempt_) attempt_->signal_who_catches(SIGUSR1);
                break;
            default:
                break;  // SIGUSR2: a request waits, SIGCHLD: the attempt is looked at anyway
        }
    }
}

void Supervisor::hear_requests() {
    for (const std::string& request : journal_.take_requests()) {
        if (request == "stop") feed(event::Wind{Drain::stop, "trainyard stop"});
    }
}

void Supervisor::hear_mail() {
    for (const Event& event : mail_.take()) feed(event);
}

void Supervisor::read_log(bool to_the_end) {
    if (!tail_) return;
    std::string bytes;
    do {
        bytes = tail_->read(kPiece);
        for (const std::string& line : lines_.feed(bytes)) {
            const LogProgress p =
                settings_.pattern ? settings_.pattern->read(line) : read_progress(line);
            if (p.step) feed(event::Progress{*p.step});
        }
    } while (to_the_end && !bytes.empty());
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
    if (!attempt_) return;
    for (const LocalCheckpoint& c : scanner_.look(no_writers)) {
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
}

}  // namespace

std::vector<int> answered_signals() { return {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}; }

Result<RunResult> supervise(sys::Env& env, const Settings& settings) {
    if (const auto made = sys::make_directories(env, settings.state); !made) {
        return made.error().as_error();
    }
    auto lock = sys::lock_file(settings.state + "/lock");
    if (!lock) return lock.error().as_error();
    if (!*lock) {
        return in_use(settings.state, "another supervisor works on this run",
                      "trainyard status shows it, trainyard stop ends it; or name another --state");
    }
    auto journal = Journal::open(settings.state + "/state.db");
    if (!journal) return journal.error();
    sys::adopt_orphans();
    return Supervisor(env, settings, **journal, std::move(**lock)).run();
}

}  // namespace trainyard::agent

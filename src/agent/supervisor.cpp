#include "trainyard/agent/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "supervision.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::agent {

namespace {

std::string text_of(const std::vector<std::string>& command) {
    doc::Node list = doc::Node::list();
    for (const std::string& word : command) list.append(doc::Node::string(word));
    return doc::write_json(list);
}

Error in_use(const std::string& state, std::string what, std::string fix) {
    return {ErrorKind::usage,
            {{.where = {state, 0, 0}, .what = std::move(what), .why = {}, .fix = std::move(fix)}}};
}

}  // namespace

std::string words_of(const Error& error) {
    std::string text;
    for (const Diagnostic& d : error.diagnostics) {
        if (!text.empty()) text += "; ";
        text += d.what;
        if (!d.why.empty()) text += " (" + d.why + ")";
    }
    return text;
}

AttemptSettings Supervisor::attempt_settings(int number) {
    AttemptSettings s;
    s.number = number;
    s.directory = fmt::format("{}/attempts/{:04}", settings_.state, number);
    s.run_id = run_id_;
    s.command = settings_.command;
    s.checkpoint_directory = settings_.place.directory;
    s.request_file = request_file();
    if (place_) s.environment = group_environment();
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
          journal_.set("ending", std::string()), journal_.set("words", settings_.words),
          journal_.set("folder", settings_.folder), journal_.set("supervisor_pid", env_.self().pid),
          journal_.set("supervisor_start", static_cast<std::int64_t>(env_.self().start)),
          journal_.set("supervisor_host", env_.self().host),
          journal_.set("supervisor_boot", env_.self().boot)}) {
        if (error) return error;
    }
    (void)journal_.take_requests();  // of a time before us
    if (const auto record = sys::read_file(settings_.state + "/record.json")) {
        if (const auto spans = recorded_spans(*record, run_id_)) observer_.restore_spans(*spans);
    }
    machine_.emplace(settings_.policy, std::move(memory), env_.random());
    if (settings_.group) recall_place();
    end_strays(is_open && is_same ? last->number : 0);
    if (is_open && is_same) {
        adopt(*last);
    } else {
        (void)env_.unlink(request_file());
        feed(event::Begin{});
    }
    return std::nullopt;
}

/// Two commands on one checkpoint directory would spoil it: whatever of this run still lives and is
/// not the attempt that is taken over, is ended.
void Supervisor::end_strays(int adopted) {
    const auto kept =
        sys::processes_marked(fmt::format("TRAINYARD_ATTEMPT_ID={}-{}", run_id_, adopted));
    std::vector<sys::ProcessId> strays;
    for (const std::int64_t pid : sys::processes_marked("TRAINYARD_RUN_ID=" + run_id_)) {
        if (std::find(kept.begin(), kept.end(), pid) != kept.end()) continue;
        strays.push_back(sys::identify(pid));
        say({action::Say::Level::warning, "stray",
             "a process of an earlier attempt still lives: " + sys::describe_process(pid) +
                 ": SIGKILL"});
    }
    sys::end_processes(env_, std::move(strays), kEndLimitNs);
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
    evidence_log_ = attempt_->log();
    observer_.attempt_begins(now(), row.from_step);
    feed(event::Adopted{row.number, attempt_->is_running()});
}

Result<RunResult> Supervisor::run() {
    if (auto error = take_up()) return *error;
    if (settings_.metrics_port) {
        auto server = sys::TextServer::start(*settings_.metrics_port);
        if (!server) return server.error().as_error();
        metrics_ = std::move(*server);
        say({action::Say::Level::info, "metrics",
             fmt::format("metrics at http://127.0.0.1:{}/metrics", metrics_->port())});
    }
    if (settings_.imds) {
        imds_.emplace(env_, *settings_.imds, [this](Event e) { mail_.post(std::move(e)); });
    }
    if (settings_.group) meet_group();
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
        if (now() >= next_observation_) observe();
        remember(false);
        if (group_) tell_group();
    }
    group_.reset();  // its last words are written
    write_spent();
    write_record();
    publish();
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
    if (const auto* saved = std::get_if<event::Saved>(&event)) observer_.saved(saved->step, now());
    if (settings_.place.repository != nullptr) {
        machine_->learn(settings_.place.repository->forecast());
    }
    const auto actions = machine_->handle(event, now());
    for (const Action& action : actions) perform(action);
    if (!actions.empty()) remember(true);
}

void Supervisor::perform(const Action& action) {
    if (std::holds_alternative<action::Prepare>(action)) {
        prepare_now();
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

void Supervisor::prepare_now() {
    must_prepare_ =
        place_ && place_->is_shared && place_->rank != 0 && first_prepared_ < place_->generation;
    if (must_prepare_) return;
    preparations_.run([this, group = place_, committed = machine_->memory().committed] {
        const auto tell = [this](std::string text) {
            mail_.post(event::Remark{.text = std::move(text)});
        };
        mail_.post(group ? prepare_step(env_, settings_.place, *group, tell)
                         : prepare(env_, settings_.place, committed, tell));
    });
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
    // What cannot be written down is not started: the next supervisor would not know of it.
    if (auto error = journal_.save(*row_)) {
        note(error);
        row_.reset();
        return feed(event::Ended{{AttemptOutcome::Kind::no_keeper, ENOSPC}});
    }
    say({action::Say::Level::info, "start",
         start.from.empty() ? fmt::format("attempt {} starts from the beginning", start.attempt)
                            : fmt::format("attempt {} resumes at step {} from {}", start.attempt,
                                          start.step, start.from),
         start.step});
    auto begun = Attempt::start(env_, s);
    if (!begun) {
        attempt_.reset();
        return feed(event::Ended{{AttemptOutcome::Kind::no_keeper, begun.error().code}});
    }
    attempt_ = std::move(*begun);
    observer_.attempt_begins(now(), start.step);
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
    std::optional<Instant> last;  // for the commit
    if (const auto deadline = machine_->drain_deadline()) {
        last = *deadline - machine_->commit_margin();
    }
    uploads_.run([this, put, last] {
        const auto found = store::recognise(env_, put.path, settings_.place.recognise);
        if (!found) {
            return mail_.post(event::PutFailed{"it is gone from " + put.path, true});
        }
        store::PutRequest request;
        request.tree = found->tree;
        request.step = put.step;
        request.layout = std::string(store::name(found->layout));
        const Instant begun = now();
        if (last) request.within = *last - begun + store::kCommitMargin;
        const auto report = settings_.place.repository->put(request);
        if (!report) {
            const bool is_late = last && now() >= *last - 2 * kSecond;
            return mail_.post(event::PutFailed{words_of(report.error()), is_late});
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
            case SIGUSR2:
                has_request_ = true;
                break;
            default:
                break;  // SIGCHLD: the attempt is looked at anyway
        }
    }
}

void Supervisor::hear_requests() {
    // The signal says that one waits; it may have been lost with an earlier supervisor.
    if (!has_request_ && now() < next_requests_) return;
    has_request_ = false;
    next_requests_ = now() + kRequests;
    for (const std::string& request : journal_.take_requests()) {
        if (request == "stop") feed(event::Wind{Drain::stop, "trainyard stop"});
    }
}

void Supervisor::hear_mail() {
    for (const Event& event : mail_.take()) hear(event);
}

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

// trainyard stop: a run saves, uploads and ends.

#include <csignal>

#include "command_run_input.hpp"
#include "run_state.hpp"
#include "trainyard/agent/attempt.hpp"

namespace trainyard::cli {

namespace {

constexpr std::int64_t kNapNs = 100'000'000;

/// What a dead supervisor left running: SIGTERM, SIGKILL after the grace.
Result<Outcome> end_orphan(const RunState& state, Seconds grace, Io& io) {
    const auto last = state.journal->last_attempt();
    agent::AttemptSettings settings;
    settings.number = last->number;
    settings.directory = last->directory;
    settings.run_id = state.journal->get("run_id").value_or("");
    agent::Attempt attempt = agent::Attempt::adopt(sys::real_env(), settings, last->keeper);
    (void)attempt.terminate();
    std::int64_t left = static_cast<std::int64_t>(grace / kSecond * 1e9);
    while (attempt.is_running() && !attempt.poll()) {
        if (left <= 0) attempt.kill();
        sys::real_env().sleep_ns(kNapNs);
        left -= kNapNs;
    }
    io.err << "the supervisor was gone: the command is ended; what it saved meanwhile is on disk "
              "only\n";
    return Outcome::done;
}

Result<Outcome> run_stop(const Args& args, Io& io) {
    Args::Mistakes mistakes;
    const auto grace = args.duration("grace", mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    const auto state = open_run_state(args);
    if (!state) return state.error();
    if (!state->has_supervisor) {
        if (state->is_command_alive) return end_orphan(*state, *grace, io);
        io.err << "nothing runs here\n";
        return Outcome::done;
    }
    if (state->supervisor.host != sys::real_env().self().host) {
        return Error{ErrorKind::world,
                     {{.where = {state->directory, 0, 0},
                       .what = "the run is on " + state->supervisor.host,
                       .why = {},
                       .fix = "run trainyard stop there"}}};
    }
    if (auto error = state->journal->ask("stop")) return *error;
    sys::signal_process(state->supervisor.pid, SIGUSR2);
    if (args.flag("no-wait")) return Outcome::done;
    while (sys::real_env().may_be_alive(state->supervisor)) sys::real_env().sleep_ns(kNapNs);
    io.err << "ended: " << state->journal->get("ending").value_or("?") << "\n";
    return Outcome::done;
}

}  // namespace

Command stop_command() {
    Command command;
    command.name = "stop";
    command.summary = "Let a run save, upload and end";
    command.examples = {{"trainyard stop", "the run in .trainyard; returns when it has ended"}};
    Option no_wait;
    no_wait.name = "no-wait";
    no_wait.kind = Option::Kind::flag;
    no_wait.help = "return at once";
    Option grace;
    grace.name = "grace";
    grace.value_name = "TIME";
    grace.help = "between SIGTERM and SIGKILL, if its supervisor is gone";
    grace.fallback = "30s";
    command.options = {state_option(), std::move(no_wait), std::move(grace)};
    command.run = run_stop;
    return command;
}

}  // namespace trainyard::cli

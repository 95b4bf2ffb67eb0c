#include "run_state.hpp"

#include "command_run_input.hpp"

namespace trainyard::cli {

Result<RunState> open_run_state(const Args& args) {
    RunState state;
    sys::Env& env = sys::real_env();
    state.directory = absolute_path(args.text("state"));
    const std::string file = state.directory + "/state.db";
    if (!env.status(file)) {
        return Error{ErrorKind::world,
                     {{.where = {args.text("state"), 0, 0},
                       .what = "no run has its state here",
                       .why = {},
                       .fix = "name it: --state DIR"}}};
    }
    auto journal = agent::Journal::open(file);
    if (!journal) return journal.error();
    state.journal = std::move(*journal);
    agent::Journal& j = *state.journal;
    state.supervisor = {
        .host = j.get("supervisor_host").value_or(""),
        .boot = j.get("supervisor_boot").value_or(""),
        .pid = j.get_integer("supervisor_pid").value_or(0),
        .start = static_cast<std::uint64_t>(j.get_integer("supervisor_start").value_or(0))};
    state.has_supervisor = j.get("ending").value_or("").empty() && state.supervisor.pid != 0 &&
                           env.may_be_alive(state.supervisor);
    const auto last = j.last_attempt();
    state.is_command_alive =
        last && last->ended_ns == 0 && last->keeper.pid != 0 && env.may_be_alive(last->keeper);
    return state;
}

}  // namespace trainyard::cli

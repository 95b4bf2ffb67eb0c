// trainyard attend: between the supervisor and the command; not for people.

#include <cstdlib>

#include "command.hpp"
#include "trainyard/agent/attend.hpp"

namespace trainyard::cli {

namespace {

Result<Outcome> run_attend(const Args& args, Io& /*io*/) {
    // The supervisor reads how it ended from the directory; nobody reads an error from here.
    std::exit(agent::attend(sys::real_env(), args.text("directory"), args.list("command")));
}

}  // namespace

Command attend_command() {
    return {.name = "attend",
            .summary = "Run a command to its end and write down how it ended",
            .description = {},
            .examples = {},
            .options = {},
            .positionals = {{.name = "directory", .help = "of the attempt", .min = 1, .max = 1},
                            {.name = "command",
                             .help = "the command and its arguments",
                             .min = 1,
                             .max = kAnyNumber}},
            .run = run_attend,
            .is_hidden = true};
}

}  // namespace trainyard::cli

#include "command.hpp"

namespace trainyard::cli {

// commands.def is read twice: once to declare, once to list.
#define TRAINYARD_COMMAND(name) Command name##_command();
#include "commands.def"
#undef TRAINYARD_COMMAND

const std::vector<Command>& commands() {
    static const std::vector<Command> all = {
#define TRAINYARD_COMMAND(name) name##_command(),
#include "commands.def"
#undef TRAINYARD_COMMAND
    };
    return all;
}

}  // namespace trainyard::cli

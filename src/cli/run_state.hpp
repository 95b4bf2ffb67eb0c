#pragma once
// The state of a run as status, stop and resume find it.

#include <memory>
#include <string>

#include "command.hpp"
#include "trainyard/agent/journal.hpp"

namespace trainyard::cli {

struct RunState {
    std::string directory;
    std::unique_ptr<agent::Journal> journal;
    sys::ProcessId supervisor;
    bool has_supervisor = false;  ///< it is alive
    bool is_command_alive = false;
};
/// ErrorKind::world if no run was ever here.
Result<RunState> open_run_state(const Args& args);

}  // namespace trainyard::cli

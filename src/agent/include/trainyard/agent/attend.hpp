#pragma once
// The process between the supervisor and the command: it starts the command, waits, ends what the
// command left behind and writes down how it ended. It outlives the supervisor, so a restarted one
// still learns the exit status.
//
// Files in the attempt's directory, each written whole: "keeper" (id of this process), "command"
// (id of the command's) and "end" (how it ended).

#include <optional>
#include <string>
#include <vector>

#include "trainyard/sys/child.hpp"

namespace trainyard::agent {

struct AttemptEnd {
    bool started = true;  ///< false: the command could not be started; `error` says why
    int error = 0;        ///< errno
    sys::ChildEnd end;
    int left_behind = 0;  ///< processes that outlived the command and were ended
};

/// Runs `command` to its end. Returns 0 once the end is written down, 1 if it cannot be.
int attend(sys::Env& env, const std::string& directory, const std::vector<std::string>& command);

/// nullopt: not there (yet).
std::optional<AttemptEnd> read_end(sys::Env& env, const std::string& directory);
/// What "keeper" or "command" holds.
std::optional<sys::ProcessId> read_process(sys::Env& env, const std::string& path);

}  // namespace trainyard::agent

#pragma once
// What `trainyard run` was asked for, as the supervisor's settings.

#include "command.hpp"
#include "trainyard/agent/supervisor.hpp"

namespace trainyard::cli {

std::vector<Option> run_options();
Result<agent::Settings> run_settings(const Args& args);

/// --state of run, status, stop and resume.
Option state_option();
/// Paths are handed to the command, which may change its directory.
std::string absolute_path(const std::string& path);

}  // namespace trainyard::cli

#pragma once
// What `trainyard run` was asked for, as the supervisor's settings.

#include "command.hpp"
#include "trainyard/agent/supervisor.hpp"

namespace trainyard::cli {

std::vector<Option> run_options();
Result<agent::Settings> run_settings(const Args& args);

/// --nodes and what belongs to it: run_nodes.cpp.
std::vector<Option> nodes_options();
std::optional<Error> read_nodes(const Args& args, agent::Settings& settings,
                                Args::Mistakes& mistakes);

/// A text option with a value, or a flag without a `value` name.
Option make_option(std::string name, std::string value, std::string help,
                   std::string fallback = {});

/// --state of run, status, stop and resume.
Option state_option();
/// Paths are handed to the command, which may change its directory.
std::string absolute_path(const std::string& path);

}  // namespace trainyard::cli

#pragma once
// trainyard simulate --cases: a table of one-node jobs, each played on the trace of its zone.

#include <vector>

#include "command.hpp"

namespace trainyard::cli {

/// --cases, --trace, --ones, --format and --threads.
std::vector<Option> simulate_cases_options();

/// Needs the options above and --json; --cases is given. Refuses, naming file, line and column: a
/// wrong table, a zone without a trace in the folder, a start beyond its trace.
Result<Outcome> run_simulate_cases(const Args& args, Io& io);

}  // namespace trainyard::cli

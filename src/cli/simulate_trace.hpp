#pragma once
// Recorded spot capacity in place of the assumed process of a run.

#include "command.hpp"
#include "trainyard/spot/run.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::cli {

struct ReadTraces {
    std::vector<spot::PoolTrace> pools;
    std::vector<Diagnostic> notes;
};

/// One file, or every file of a directory.
Result<ReadTraces> read_traces(const std::string& path, const spot::ImportOptions& options);

/// Every trace becomes a spot pool in place of those of the run, at the run's spot price unless
/// `own_prices`. A trace of fewer nodes than the run needs stands for all of them. `traces` must
/// outlive the run. A run without a spot price and a trace without prices are an error.
std::optional<Error> use_traces(std::vector<spot::PoolTrace>& traces, bool own_prices,
                                spot::RunSpec& spec);

}  // namespace trainyard::cli

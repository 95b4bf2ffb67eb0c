#pragma once
// What simulate() refuses, each with the reason and what to write instead.

#include <string_view>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/spot/run.hpp"
#include "trainyard/spot/simulate.hpp"

namespace trainyard::spot {

std::vector<Diagnostic> check_run(const RunSpec& spec, std::string_view policy,
                                  const SimulateOptions& options);

}  // namespace trainyard::spot

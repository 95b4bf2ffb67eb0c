#pragma once
// What one who knew every drop, return and price of a run in advance would have to pay at least: no
// policy that finishes in time can be cheaper on that run. docs/model/spot-engine.md says why.

#include "trainyard/base/result.hpp"
#include "trainyard/spot/simulate.hpp"

namespace trainyard::spot {

struct Bound {
    std::uint64_t runs = 0;
    double feasible = 0;  ///< share of runs in which the deadline can be met at all
    Quantiles usd;        ///< over the feasible runs
};

/// The runs are those of simulate() with the same seed. Refuses (diagnostics) what simulate()
/// refuses, a job without a deadline, an elastic one, and one with over 2,000 moments to decide at.
Result<Bound> clairvoyant(const RunSpec& spec, const SimulateOptions& options);

}  // namespace trainyard::spot

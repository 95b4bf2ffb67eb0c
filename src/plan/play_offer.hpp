#pragma once
// A spot offer played many times in place of one expected value.

#include "context.hpp"

namespace trainyard::plan {

/// A spot offer of one gang, not played yet, with at most a hundred interruptions: with more, luck
/// averages out within the run. Independent runs and mixed offers keep their expected value.
bool can_be_played(const Option& o, const Request& request);

/// The same offer with time, cost, bill and interruptions of `play.runs` simulated runs on the
/// type's interruption process. Expected: the mean. Range: the P10 of the lower edge of the band
/// and the P90 of the upper one, combined with the error of the step time as independent errors are
/// (root of the sum of squared logarithms).
Offer play_offer(const Option& option, const Request& request, const std::string& service,
                 const catalog::Catalog& catalog, const Assumptions& a);

}  // namespace trainyard::plan

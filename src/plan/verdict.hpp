#pragma once
// The first line of a plan.

#include <string>

#include "trainyard/plan/plan.hpp"

namespace trainyard::plan {

/// `reason`: why nothing can run the job at all, used where the outcome is does_not_fit.
std::string verdict_of(const Plan& p, const Assumptions& a, const std::string& reason);

}  // namespace trainyard::plan

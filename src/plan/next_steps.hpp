#pragma once
// What to type next. After a yes: the AWS command that asks for the capacity. After a no: the same
// question with the numbers that make the job feasible, checked by planning it once more.

#include <string>
#include <vector>

#include "found.hpp"
#include "trainyard/plan/plan.hpp"

namespace trainyard::plan {

/// Most useful first; never empty.
std::vector<std::string> next_steps(const Plan& p, const Request& request, const Found& found,
                                    const catalog::Catalog& catalog, const Assumptions& a);

}  // namespace trainyard::plan

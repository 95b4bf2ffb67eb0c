#pragma once
// What the plan did with a request that a careful person would ask about first: printed as
// warnings, and as `warnings` in JSON.

#include <string>
#include <vector>

#include "context.hpp"

namespace trainyard::plan {

std::vector<std::string> cautions_of(const Context& x);

}  // namespace trainyard::plan

#pragma once
// Every rules/<name>.cpp defines Rule <name>_rule(); CMake writes the list from the file names.

#include <vector>

#include "trainyard/lint/rule.hpp"

namespace trainyard::lint {

std::vector<Rule> listed_rules();

}  // namespace trainyard::lint

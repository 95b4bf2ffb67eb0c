#pragma once
// Every rules/<name>.cpp defines Rule rule() in a namespace of its name; CMake writes the list.

#include <vector>

#include "trainyard/lint/rule.hpp"

namespace trainyard::lint {

std::vector<Rule> listed_rules();

}  // namespace trainyard::lint

#pragma once
// The mechanical repairs of findings, shown as a diff before anything is written.

#include <string>
#include <vector>

#include "trainyard/lint/check.hpp"

namespace trainyard::lint {

struct Repaired {
    std::string path;
    std::string before;
    std::string after;
    int edits = 0;
};

/// Files that change. An edit whose words no longer stand at its place, or that overlaps another,
/// is left out; findings that are allowed are not repaired.
std::vector<Repaired> repair(const Report& report, const std::vector<SourceText>& texts);
/// "--- a", "+++ b", and the changed lines with three lines around them.
std::string unified_diff(const Repaired& repaired);

}  // namespace trainyard::lint

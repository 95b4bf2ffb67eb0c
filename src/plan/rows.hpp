#pragma once
// The table of alternatives: the winner, its other purchases, what was asked for, and the best of
// every other type.

#include <vector>

#include "context.hpp"

namespace trainyard::plan {

inline constexpr std::size_t kMaxRows = 8;

/// At most eight rows; the chosen one first, then by cost. Every other row carries the number that
/// lost it.
std::vector<Row> rows_of(const Context& x);

}  // namespace trainyard::plan

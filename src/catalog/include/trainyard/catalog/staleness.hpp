#pragma once
// Prices age. AWS cut p4d by 33 % and p5 by 44 % in June 2025 (list prices before and after
// 2025-06-23), so a price older than a quarter is named before anyone decides on it.

#include <span>
#include <string_view>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/catalog/catalog.hpp"

namespace trainyard::catalog {

inline constexpr int kStaleAfterDays = 90;

/// One warning per (item, purchase) among `prices` that is older than `limit_days` at `today` (ISO
/// date): item, date, age and how to refresh it. At most `most` are listed, oldest first; one more
/// line counts the rest. A price without a date (a user's own) never warns. Empty if `today` is
/// malformed: the caller owns the clock.
std::vector<Diagnostic> stale_prices(std::span<const Price> prices, std::string_view today,
                                     int limit_days = kStaleAfterDays, std::size_t most = 5);

}  // namespace trainyard::catalog

#pragma once
#include <optional>
#include <string_view>

namespace trainyard::catalog {
/// Days since 1970-01-01 of "YYYY", "YYYY-MM" or "YYYY-MM-DD" (missing parts: the first). nullopt
/// if malformed.
std::optional<int> day_number(std::string_view date);
}  // namespace trainyard::catalog

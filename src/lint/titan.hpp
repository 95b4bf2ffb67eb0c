#pragma once
// What rules on torchtitan's configurations ask.

#include "launch.hpp"

namespace trainyard::lint::titan {

/// The launch whose line or script names the file; nullptr if there is none or more than one.
const Launch* launch_of(const Case& c, const Document& d);
/// Processes of that launch together; 0 if unknown.
std::int64_t world_of(const Case& c, const Document& d);
/// A degree of [parallelism]; its default if it is absent.
std::int64_t degree(const Document& d, std::string_view name, std::int64_t otherwise = 1);
/// Where it is set, else where [parallelism] or the file begins.
Said place(const Document& d, std::string_view name);
/// "float8" or "mx" among the converters, in the old words or the new ones; empty if neither.
Said converter(const Document& d, std::string_view name);
/// torch.compile is on, off, or not said.
std::optional<bool> compiles(const Document& d);

}  // namespace trainyard::lint::titan

#pragma once
// Checks where a plan may run against the catalog, with what the user could have meant.

#include <optional>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::cli {

/// An instance that is a family ("p5") or an accelerator ("H100") lists the types that match; a
/// region without prices lists those that have some. Typing errors are left to the planner.
std::optional<Diagnostic> place_mistake(const plan::Request& request,
                                        const catalog::Catalog& catalog);

}  // namespace trainyard::cli

#pragma once
// Checks where a plan may run against the catalog, with what the user could have meant.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/base/result.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::cli {

/// An instance that is a family ("p5") or an accelerator ("H100") lists the types that match; a
/// region without prices lists those that have some. Typing errors are left to the planner.
std::optional<Diagnostic> place_mistake(const plan::Request& request,
                                        const catalog::Catalog& catalog);

/// The catalog ids that a name means: "A100" is A100-40 and A100-80. Never empty; an unknown name
/// is an error.
Result<std::vector<std::string>> accelerator_ids(const std::string& name,
                                                 const catalog::Catalog& catalog);

}  // namespace trainyard::cli

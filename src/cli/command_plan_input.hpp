#pragma once
// From the words of `trainyard plan` to a planning request.

#include <vector>

#include "command.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::cli {

/// The job file, config.json or model name, with the flags on top. Warnings are appended, errors
/// returned.
Result<plan::Request> plan_request(const Args& args, const std::string& today);

/// The embedded catalog, or --catalog DIR, with --prices FILE on top.
Result<catalog::Catalog> plan_catalog(const Args& args);

}  // namespace trainyard::cli

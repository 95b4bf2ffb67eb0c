#pragma once
// trainyard.yaml: rules that a repository switches off or grades otherwise.
//
//     check:
//       rules:
//         COST-IDLE: {severity: off, files: dev/, reason: the demo group must answer at once}
//         KP-EXPIRE: {severity: error}

#include <string_view>

#include "trainyard/base/result.hpp"
#include "trainyard/lint/check.hpp"

namespace trainyard::lint {

/// Refuses a rule that does not exist, and "off" without a reason.
Result<CheckOptions> read_settings(std::string_view text, std::string_view file);

}  // namespace trainyard::lint

#pragma once
// What NCCL's own logs among the files say: `trainyard doctor`'s symptoms as findings.

#include <string_view>

#include "found.hpp"

namespace trainyard::lint {

/// Reports the symptoms with this id.
void report_symptoms(const Case& c, std::string_view id, Found& found);

}  // namespace trainyard::lint

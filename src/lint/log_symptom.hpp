#pragma once
// What NCCL's own logs among the files say: `trainyard doctor`'s symptoms as findings.

#include <functional>
#include <string_view>

#include "found.hpp"

namespace trainyard::lint {

/// Reports the symptoms with this id; `more` may add what they cost.
void report_symptoms(const Case& c, std::string_view id, Found& found,
                     const std::function<void(const nccl::Symptom&, Finding&)>& more = {});

}  // namespace trainyard::lint

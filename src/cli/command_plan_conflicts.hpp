#pragma once
// What `trainyard plan` was told twice and differently, on the command line or against the job
// file. All are usage errors (exit code 2).

#include <optional>

#include "command.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::cli {

/// Options that contradict each other, before any file is read.
std::optional<Error> plan_options_mistake(const Args& args);

/// Options that contradict the job as it stands with every option applied. `request.accelerators`
/// are catalog ids.
std::optional<Error> plan_job_mistake(const Args& args, const plan::Request& request);

}  // namespace trainyard::cli

#pragma once
// From the words of `trainyard plan` to a planning request.

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::cli {

/// The job file, config.json or model name, with the flags on top. Warnings are appended, errors
/// returned.
Result<plan::Request> plan_request(const Args& args, const std::string& today,
                                   Seconds since_midnight = {});

/// What the user typed: the job and the options that change the plan, not how it is shown.
plan::Invocation typed_of(const Args& args, const std::vector<Option>& options);

/// A Hugging Face config.json, told by its keys.
bool is_hf_config(const doc::Node& n);

/// Names of the software stack profiles, and the diagnostic for a name that is none of them.
std::vector<std::string> stack_names();
std::optional<Diagnostic> stack_mistake(const std::string& name, Location where);

}  // namespace trainyard::cli

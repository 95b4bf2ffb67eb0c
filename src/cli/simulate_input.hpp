#pragma once
// What `trainyard simulate` plays: a job that is planned first, or a plan's JSON.

#include <optional>
#include <string>

#include "command.hpp"
#include "trainyard/plan/plan.hpp"

namespace trainyard::cli {

struct SimulateInput {
    plan::Run run;
    std::string job;      ///< one line: model, method, tokens
    std::string verdict;  ///< of the plan
    Seconds planned;      ///< the plan's expected wall time; 0 if the file does not say
    Usd planned_cost;
    /// In words: spot of this type is cheaper in another region than the one that is played.
    std::optional<std::string> elsewhere;
    std::vector<Diagnostic> notes;  ///< warnings about the file
};

/// Options that say what to plan; the rest of a job belongs into job.yaml.
std::vector<Option> simulate_job_options();

/// The positional `job`: "plan.json" written by `trainyard plan --json`, or anything that
/// `trainyard plan` takes. A job without a plan is an error that says why.
Result<SimulateInput> simulate_input(const Args& args, const std::string& today);

}  // namespace trainyard::cli

#include "command_plan_conflicts.hpp"

#include <algorithm>
#include <array>

#include "exclusive_options.hpp"

namespace trainyard::cli {
namespace {

constexpr std::array kPairs = {
    Exclusive{"tokens", "samples", "both say how much to train"},
    Exclusive{"no-spot", "prefer-spot", "one forbids spot, the other rests the verdict on it"},
    Exclusive{"mission-critical", "prefer-spot", "a mission-critical job never runs on spot"},
    Exclusive{"have", "instance", "both say which machines to plan on"},
    Exclusive{"have", "nodes", "both say how many machines to plan on"},
    Exclusive{"have", "prefer-spot", "machines you have are not rented on spot"},
    Exclusive{"mission-critical", "trainium", "a mission-critical job never runs on Trainium"},
};

bool is_trainium(const std::string& name) {
    return name.starts_with("trn") || name.starts_with("Trn");
}

/// What made the job mission critical, or forbade spot: the option or the file.
std::string from(const Args& args, const char* option, const char* key) {
    return args.given(option) ? "--" + std::string(option)
                              : std::string(key) + " in " + args.text("job");
}

std::optional<Error> trainium_mistake(const Args& args, const plan::Request& r) {
    if (!r.job.mission_critical) return std::nullopt;
    const bool device = !r.accelerators.empty() &&
                        std::all_of(r.accelerators.begin(), r.accelerators.end(), is_trainium);
    const bool type = r.job.instance && is_trainium(*r.job.instance);
    if (!device && !type && !r.job.trainium_ok) return std::nullopt;
    return usage_error("plan",
                       from(args, "mission-critical", "mission_critical") +
                           " keeps Trainium out, but the job asks for it",
                       "a mission-critical job runs on neither spot nor Trainium",
                       "drop one of the two");
}

std::optional<Error> spot_mistake(const Args& args, const plan::Request& r) {
    if (r.spot_preference != plan::SpotPreference::always) return std::nullopt;
    const workload::Job& j = r.job;
    std::string why;
    if (j.spot == workload::SpotPolicy::forbidden) why = from(args, "no-spot", "spot: no");
    if (j.mission_critical) why = from(args, "mission-critical", "mission_critical");
    if (j.resume == workload::Resume::none) why = "resume: none";
    if (why.empty()) return std::nullopt;
    return usage_error("plan", "--prefer-spot contradicts " + why,
                       "spot takes instances away: the job must be able to resume and allow it",
                       "drop one of the two");
}

}  // namespace

std::optional<Error> plan_options_mistake(const Args& args) {
    return exclusive_mistake(args, "plan", kPairs);
}

std::optional<Error> plan_job_mistake(const Args& args, const plan::Request& r) {
    const bool adapters =
        r.job.method == workload::Method::lora || r.job.method == workload::Method::qlora;
    if (args.given("rank") && !adapters) {
        return usage_error("plan", "--rank without adapters",
                           "the method is " + std::string(to_string(r.job.method)),
                           "add --method lora or qlora, or drop --rank");
    }
    if (args.given("have-price") && !args.given("have")) {
        return usage_error("plan", "--have-price without --have",
                           "it is the price of what you have", "add --have p4d.24xlarge:8");
    }
    if (r.have && r.job.instance) {
        return usage_error("plan", "--have contradicts instance in " + args.text("job"),
                           "both say which machines to plan on", "drop one of the two");
    }
    if (auto wrong = trainium_mistake(args, r)) return wrong;
    return spot_mistake(args, r);
}

}  // namespace trainyard::cli

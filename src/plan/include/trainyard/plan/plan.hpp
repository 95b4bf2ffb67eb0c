#pragma once
// The answer: what to rent, why, what it costs, what could go wrong, and why the others lost.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/plan/offer.hpp"
#include "trainyard/plan/run_spec.hpp"
#include "trainyard/plan/search.hpp"
#include "trainyard/plan/service.hpp"

namespace trainyard::plan {

/// A candidate with a way to pay for it.
struct Option {
    Candidate candidate;
    Offer offer;
    std::size_t number = 0;  ///< position among all options of the plan
};

enum class Outcome {
    feasible,     ///< meets deadline and budget
    tight,        ///< meets both in expectation, not at the upper end of the range, or only on spot
    over_budget,  ///< something meets the deadline, nothing of it the budget
    too_slow,     ///< something meets the budget, nothing of it the deadline
    infeasible,   ///< neither, or by more than a factor of two
    does_not_fit,  ///< no type holds the model
};
std::string_view to_string(Outcome o);

struct Row {
    Option option;
    std::string lost;  ///< one number that lost it; empty for the chosen row
};

/// One point of the scaling curve of the chosen type. The global batch is one wish, rounded to what
/// each size divides, so tokens/s compare and step times do not.
struct ScalingPoint {
    int nodes = 1;
    int devices = 1;
    int data_parallel = 1;
    Seconds step;
    int global_batch = 0;  ///< as near to the wish as this size can divide it
    TokensPerSecond tokens_per_second;
    double efficiency = 1;  ///< tokens/s and device against the smallest size that fits
    double communication_share = 0;
    std::string mapping;
};
struct Scaling {
    std::vector<ScalingPoint> points;
    int knee_devices = 0;  ///< largest size that keeps the knee efficiency
    std::string dp_warning;
};

struct WhyNot {
    std::string instance;
    std::string answer;  ///< with the number that lost it
    std::optional<Option> best;
};

/// Numbers for a job that cannot be done as asked.
struct Shortfall {
    double cost_factor = 0;         ///< cheapest cost / budget
    bool cheapest_is_late = false;  ///< the cheapest way misses the deadline
    double time_factor = 0;         ///< fastest affordable time / deadline
    std::optional<int> devices_needed;
    double tokens_affordable = 0;
    double flop_affordable = 0;
    double flop_needed = 0;
    double accelerator_hours = 0;
    MicroUsd cheapest;
    std::optional<Option> spot;  ///< cheapest way in time that leans on spot, where one is cheaper
    std::vector<std::string> text;  ///< what would make it feasible
};

/// A measured speed-up compared with the model (explain.hpp fills it).
struct Diagnosis {
    double with_fabric = 0;     ///< expected speed-up over one node with the type's own fabric
    double without_fabric = 0;  ///< the same over plain TCP
    std::string verdict;
    std::vector<std::string> checks;  ///< most likely cause first
};

struct Fact {
    std::string key;  ///< "work", "mapping", "memory", "network", "data", "checkpoint", "capacity",
                      ///< "service", …
    std::string text;
};

struct Plan {
    Outcome outcome = Outcome::feasible;
    std::string name;  ///< the job file's; empty if it has none
    std::string job;   ///< one line: model, method, tokens
    workload::Model model;
    int copies = 1;  ///< independent runs of the job
    workload::Resume resume = workload::Resume::checkpoint;
    std::string verdict;  ///< one line
    std::optional<Option> chosen;
    bool only_spot = false;  ///< nothing guaranteed meets the limits
    std::vector<Row> rows;   ///< at most eight
    std::vector<Fact> facts;
    std::vector<std::string> reasons;  ///< most important first; the report prints three
    std::vector<std::string> risks;    ///< same
    std::vector<std::string> next;     ///< commands, most useful first
    ServiceChoice service;
    std::optional<Shortfall> shortfall;
    std::optional<Diagnosis> diagnosis;
    std::optional<Scaling> scaling;
    std::optional<Run> run;  ///< of the chosen option, ready to be simulated
    std::vector<WhyNot> why_not;
    std::vector<Rejection> rejections;
    std::vector<Option>
        front;  ///< Pareto front of expected time against expected money, all purchases
    std::vector<Option> firm_front;        ///< the same on guaranteed capacity only
    std::vector<std::string> assumptions;  ///< in words, with source
    std::vector<std::string> warnings;
    SearchStats stats;
    Work work;
    std::optional<Usd> budget;
    std::optional<Seconds> deadline;
    std::optional<Owned> have;
};

Result<Plan> make_plan(const Request& request, const catalog::Catalog& catalog,
                       const Assumptions& assumptions);

}  // namespace trainyard::plan

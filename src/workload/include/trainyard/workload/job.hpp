#pragma once
// What the user asks for (job.yaml, or the flags of `trainyard plan`), and one fixed configuration
// (run.yaml for `predict`). Keys, units and defaults: docs/reference/job.md and
// docs/reference/run.md.

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::workload {

enum class SpotPolicy { allowed, forbidden };
enum class Resume {
    none,
    checkpoint,
    elastic
};  ///< can the user's code resume, and on fewer nodes?
std::string_view to_string(SpotPolicy s);
std::string_view to_string(Resume r);

/// A quote for machines of one's own, to compare with renting.
struct OnPrem {
    Usd capex;            ///< servers and network, once
    double kilowatt = 0;  ///< drawn by the machines, without cooling
    double pue = 1;       ///< power usage effectiveness: cooling and losses on top
    Usd per_kilowatt_hour;
    double years = 0;
    double staff = 0;                 ///< full-time equivalents
    Usd staff_cost_per_year;          ///< of one full-time equivalent
    double maintenance_per_year = 0;  ///< fraction of capex
    std::vector<double> utilisation;  ///< fractions of the time in use, to compare
    std::string reference;            ///< the instance type it replaces
};

/// A deadline given as a date; only the caller knows what day it is.
struct DeadlineDate {
    std::string date;  ///< YYYY-MM-DD, checked to be a real date
    Location where;
};

/// Above these a number is a slip of the keyboard, not a plan: hundreds of times the largest
/// published training sets (some 4e13 tokens), a percent of the world's yearly product, a century.
inline constexpr double kMostAmount = 1e16;  ///< tokens or samples
inline constexpr Usd kMostBudget = 1e12 * kUsd;
inline constexpr Seconds kLongestDeadline = 100 * kYear;

/// A planning request. Optional means: not said; the planner chooses and says so.
/// With on_prem, the model may be missing (model.layers == 0 and no opaque_params) and so may the
/// work.
struct Job {
    std::string name;
    Model model;
    Method method = Method::pretrain;
    std::optional<Lora> lora;
    std::optional<Optimizer> optimizer;
    std::optional<catalog::Precision> precision;
    Tokens tokens;  ///< seen in total, all epochs; 0 if only samples or hours are known
    std::optional<double>
        samples;        ///< seen in total, all epochs: images, or sequences of a token model
    double epochs = 1;  ///< passes over the data; tokens and samples already contain them
    std::optional<Bytes> sample_size;           ///< as stored, of one sample
    int sequence = 0;                           ///< tokens; 0 = choose min(4096, max_positions)
    std::optional<double> global_batch_tokens;  ///< fixed by the user: must not grow
    std::optional<Seconds> deadline;
    std::optional<DeadlineDate> deadline_date;  ///< then `deadline` is empty until resolve_deadline
    std::optional<Usd> budget;
    std::vector<std::string> regions;  ///< empty = us-east-1, us-east-2, us-west-2
    SpotPolicy spot = SpotPolicy::allowed;
    Resume resume = Resume::checkpoint;
    bool mission_critical = false;
    bool trainium_ok = false;
    bool outside_aws_ok = false;
    bool data_public = false;
    int copies = 1;  ///< independent runs of this job (200 fine-tunes)
    std::optional<double> accelerator_hours_each;  ///< the user's own measurement for one run
    std::optional<Bytes> dataset;
    std::optional<std::string> instance;  ///< only this type
    std::optional<int> nodes;             ///< only this count
    std::optional<double> mfu;  ///< the user's own MFU in place of the model's compute time
    std::optional<std::string> stack;
    std::optional<OnPrem> on_prem;
    std::vector<std::string> assumptions;  ///< what the reader filled in; printed with the plan
};

/// Receives the path of {config: path} as written and returns the parsed config.json. Reading files
/// is the caller's.
using ConfigResolver = std::function<Result<doc::Node>(const std::string& path)>;

/// job.yaml. Unknown keys are errors with the nearest known key; every mistake is reported, not
/// just the first. Without `resolve`, a {config: path} is refused.
Result<Job> read_job(const doc::Node& root, const ConfigResolver& resolve = {});

/// 4-bit base weights (QLoRA) are unpacked to 16 or 32 bit for every product; no published kernel
/// feeds an 8- or 4-bit product from them. The broken pair in words, else nullopt.
std::optional<Diagnostic> quantised_precision_mistake(Method method,
                                                      std::optional<catalog::Precision> precision,
                                                      Location where);

/// Turns a deadline date into a duration from now, `today` (YYYY-MM-DD) and the time since its
/// midnight, UTC, to the end of that day. A date in the past is a bad-input error at the date's
/// place. No date: nothing happens.
Result<Job> resolve_deadline(Job job, std::string_view today, Seconds since_midnight = {});

/// A model given in a job or run: a name, {config: path}, {params: 13B}, or a full shape
/// (read_shape).
Result<Model> read_model_reference(const doc::Node& model, const ConfigResolver& resolve = {});

/// run.yaml: model + training + where it runs.
struct Run {
    std::string name;
    Model model;
    Training
        training;  ///< parallel.data 0: not said and not derivable before the instance is known
    std::string instance;     ///< an EC2 type, or empty with the accelerator named
    std::string accelerator;  ///< catalog id
    int accelerators = 0;     ///< chips in all; 0 with an instance: nodes x chips per node
    int accelerators_per_node = 8;
    int nodes = 0;                                ///< 0: not said
    std::optional<double> inter_node_gbit_per_s;  ///< per node, one direction
    std::optional<double> global_batch_tokens;    ///< given in tokens; converted by complete_run
    Location where;                               ///< of the map, for later diagnostics
    std::map<std::string, Location, std::less<>> places;  ///< of each setting that was written
    std::vector<std::string> assumptions;

    /// Where the first of these settings was written; `where` if none was.
    const Location& place(std::initializer_list<std::string_view> keys) const;
};
Result<Run> read_run(const doc::Node& root, const ConfigResolver& resolve = {});

/// Fills what depends on the machine: device count, the data-parallel degree, the global batch.
/// `devices_per_chip` is 1, or 2 on Trainium1, whose chips hold two cores that the mapping counts.
/// A product that does not match the device count and every broken mapping law are bad-input
/// errors. Accelerators per node comes from the catalog's instance.
Result<Run> complete_run(Run run, int accelerators_per_node, int devices_per_chip = 1);

}  // namespace trainyard::workload

#pragma once
// What the user asks for (job.yaml, or the flags of `trainyard plan`), and one fixed configuration (run.yaml for `predict`).

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::workload {

enum class SpotPolicy { allowed, forbidden };
enum class Resume { none, checkpoint, elastic };  ///< can the user's code resume, and on fewer nodes?

/// A planning request. Optional means: not said; the planner chooses and says so.
struct Job {
    std::string name;
    Model model;
    Method method = Method::pretrain;
    std::optional<Lora> lora;
    std::optional<Optimizer> optimizer;
    std::optional<catalog::Precision> precision;
    Tokens tokens;                     ///< seen in total, all epochs
    std::optional<double> samples;     ///< images, for models without tokens
    int sequence = 0;                  ///< tokens; 0 = choose min(4096, max_positions)
    std::optional<double> global_batch_tokens;  ///< fixed by the user: must not grow
    std::optional<Seconds> deadline;
    std::optional<Usd> budget;
    std::vector<std::string> regions;  ///< empty = us-east-1, us-east-2, us-west-2
    SpotPolicy spot = SpotPolicy::allowed;
    Resume resume = Resume::checkpoint;
    bool mission_critical = false;
    bool trainium_ok = false;
    bool outside_aws_ok = false;
    bool data_public = false;
    int copies = 1;                    ///< independent runs of this job (200 fine-tunes)
    std::optional<double> accelerator_hours_each;  ///< the user's own measurement for one run
    std::optional<Bytes> dataset;
    std::optional<std::string> instance;  ///< only this type
    std::optional<int> nodes;             ///< only this count
    std::optional<double> mfu;            ///< the user's own MFU in place of the model's compute time
    std::optional<std::string> stack;
};

/// job.yaml. Unknown keys are errors with the nearest known key; every mistake is reported, not just the first.
Result<Job> read_job(const doc::Node& root);

/// run.yaml: model + training + where it runs.
struct Run {
    Model model;
    Training training;
    std::string instance;     ///< an EC2 type, or empty with the accelerator named
    std::string accelerator;  ///< catalog id
    int accelerators = 0;
    int accelerators_per_node = 8;
    std::optional<double> inter_node_gbit_per_s;  ///< per node, one direction
};
Result<Run> read_run(const doc::Node& root);

/// A model given in a job or run: a name, {config: path} (resolved by the caller), {params: 13B}, or a full shape.
/// `resolve` receives a path and returns the parsed config.json.
}  // namespace trainyard::workload

#pragma once
// What a target needs to know of a plan: the JSON that `trainyard plan --json` writes, checked and
// joined with the catalog's facts about the machine. Strings come from the user: a target writes
// them only through text.hpp. Prices are dated; nothing here is guessed.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::render {

/// commitment: on-demand launches that a Savings Plan or Reserved Instances pay for.
enum class Purchase { on_demand, spot, capacity_block, mixed, commitment };
std::string_view to_string(Purchase p);  ///< as the plan says it: "on demand", "Capacity Block"

/// Where the nodes read the training data. local_nvme: staged from S3 when the job starts.
enum class DataPlace { local_nvme, s3, lustre };

struct WallTime {
    Seconds low;
    Seconds expected;
    Seconds high;
};

/// A line of the plan's bill, as the plan words it.
struct BillItem {
    std::string name;
    std::string detail;
    Usd amount;
};

struct Recipe {
    std::string plan_file;     ///< as the user named it, for diagnostics
    std::string plan_hash;     ///< SHA-256 of the plan's bytes, 64 hexadecimal digits
    std::string tool_version;  ///< of trainyard

    std::string name;     ///< of the job file, else of the model; any text, never a legal name
    std::string job;      ///< one line: model, method, tokens
    std::string verdict;  ///< one line
    std::string service;  ///< what the plan chose: "EKS + Karpenter", "SageMaker", …

    catalog::Instance instance;
    catalog::Accelerator accelerator;
    int nodes = 1;
    int copies = 1;         ///< independent runs of the job
    int jobs_per_node = 1;  ///< of them at once on one node

    Purchase purchase = Purchase::on_demand;
    std::optional<int> block_days;  ///< Capacity Block: whole days
    int base_nodes = 0;             ///< mixed: nodes on guaranteed capacity; the rest is spot
    std::string region;
    UsdPerSecond rate;  ///< per instance, of `purchase`, before a service's uplift
    catalog::Provenance rate_source;
    std::optional<catalog::Price> on_demand;             ///< of the same type in the same region
    std::string head_node;                               ///< EC2 type of a cluster's head node
    std::vector<BillItem> bill;                          ///< of the whole run, for `service`
    std::optional<catalog::ServicePrice> control_plane;  ///< EKS, USD an hour

    workload::Model model;
    workload::Training training;
    workload::Resume resume = workload::Resume::checkpoint;
    double params = 0;
    Tokens tokens;
    double steps = 0;  ///< optimizer steps in all
    Seconds step_time;
    Bytes checkpoint;  ///< one full checkpoint, all ranks together
    Seconds checkpoint_interval;
    Bytes dataset;
    DataPlace data_place = DataPlace::s3;
    std::optional<Bytes> lustre;  ///< size of the file system, if data_place is lustre

    WallTime wall;
    Usd expected_cost;
    std::optional<Seconds> deadline;
    std::optional<Usd> budget;

    bool is_trainium() const { return accelerator.vendor == "AWS"; }
    /// EFA carries the traffic between nodes: more than one node of one job, on a type that has it.
    bool uses_efa() const;
    bool is_gang() const { return copies == 1 && nodes > 1; }
    /// Ranks that the mapping counts on one node: GPUs, or NeuronCores of Trainium1.
    int ranks_per_node() const;
    UsdPerSecond cluster_rate() const { return nodes * rate; }
};

/// Reads the text of a plan.json. Refused, each at its place: text that is no plan, a plan that
/// recommends nothing or rents nothing, an instance type or a mapping that does not exist.
Result<Recipe> read_recipe(std::string_view text, std::string_view file,
                           const catalog::Catalog& catalog, std::string_view tool_version);

/// What is computed of a plan, and where.
struct PlannedRun {
    workload::Model model;
    workload::Training training;
    std::string instance;
    int nodes = 1;
};
/// Of a parsed plan, or a part of one with its keys `model` and `chosen` (with `instance`, `nodes`
/// and `training`).
Result<PlannedRun> read_planned_run(const doc::Node& root);

}  // namespace trainyard::render

#pragma once
// The whole bill before launch, item by item. Items are whole cents; the total is their sum, to the
// cent.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/plan/assumptions.hpp"
#include "trainyard/plan/candidate.hpp"
#include "trainyard/plan/money.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::plan {

struct BillItem {
    std::string name;    ///< "compute", "start-up", "data storage", …
    std::string detail;  ///< "8 x p5.48xlarge x 412.3 h x $55.04"
    MicroUsd amount;
    catalog::Provenance provenance;
    std::string instance{};  ///< head node: the EC2 type behind the amount
};

struct Bill {
    std::vector<BillItem> items;
    MicroUsd total() const;
    MicroUsd of(std::string_view name) const;  ///< sum of the items with this name
};

/// Sizes that storage and checkpoint items need.
struct DataNeeds {
    Bytes dataset;
    Bytes checkpoint;     ///< one full checkpoint (weights and optimizer, or adapters only)
    Bytes final_weights;  ///< what leaves at the end
    BytesPerSecond
        data_rate;  ///< bytes per second the input pipeline must deliver to the whole cluster
    std::string checkpoint_basis;
    bool on_nvme = false;         ///< one node's local NVMe holds the whole dataset
    std::optional<Bytes> lustre;  ///< FSx for Lustre of this size, where S3 is too slow
};
/// Bytes of one stored sample: the user's, else token ids of one sequence, else one image.
Bytes sample_size(const workload::Job& job, const Work& work, const Assumptions& a);
/// What S3 keeps: the user's size, else every sample once, however many epochs read it.
Bytes dataset_size(const workload::Job& job, const Work& work, const Assumptions& a);
DataNeeds data_needs(const workload::Job& job, const Work& work, const Candidate& c,
                     const Assumptions& a);

/// Nodes bought at one rate. Billed by the hour, or paid up front when `upfront` is not zero.
struct RateLine {
    std::string label;  ///< "on demand", "spot", "Capacity Block, 28 days"
    int nodes = 1;
    UsdPerSecond rate;  ///< per instance, before a service's uplift
    catalog::Provenance source;
    Usd upfront;  ///< all nodes of this line together
};

/// What the bill is for.
struct BillInput {
    const Candidate* candidate = nullptr;
    const DataNeeds* needs = nullptr;
    std::string region;
    std::string service;  ///< decides head node, control plane or uplift
    std::vector<RateLine> lines;
    Seconds training;  ///< billed, with checkpoint stalls and repeated work
    Seconds startup;   ///< billed before the first step, once
    Seconds restarts;  ///< billed after interruptions, all of them together
    Seconds wall;      ///< from launch to end, waits included: storage and head node run all along
    int starts = 1;    ///< how often the image is pulled
    int checkpoints_written = 0;
    int runs = 1;               ///< independent runs: each keeps and ships its own files
    bool only_compute = false;  ///< the rest belongs to machines that the user has
};
Bill make_bill(const BillInput& in, const catalog::Catalog& catalog, const Assumptions& a);

/// How many times the EC2 price SageMaker charges for this type; 1 for every other service.
double service_uplift(std::string_view service, const catalog::Instance& instance,
                      const catalog::Catalog& catalog);

}  // namespace trainyard::plan

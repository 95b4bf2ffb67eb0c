#pragma once
// One way to run the job: an instance type, a node count, a mapping, and what the performance model
// says about it.

#include <string>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/perf/calibration.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/workload/job.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::plan {

/// What the steps have to add up to.
struct Work {
    double sequences = 0;         ///< sequences (or samples) in the whole run, all epochs
    int sequence = 0;             ///< tokens per sequence; 1 for models without tokens
    double batch = 0;             ///< wished global batch in sequences
    bool batch_is_limit = false;  ///< the user fixed it: it may shrink a little, never grow
    std::string batch_source;
    double params = 0;
    double active_params = 0;
    double tokens() const { return sequences * sequence; }
};

struct Candidate {
    const catalog::Instance* instance = nullptr;
    const catalog::Accelerator* accelerator = nullptr;
    int nodes = 1;
    int jobs_per_node = 1;  ///< independent runs packed on one node (copies only)
    perf::Interconnect inter;
    workload::Training training;
    perf::Prediction prediction;
    Seconds step;      ///< the prediction's total
    double steps = 0;  ///< optimizer steps in the run
    perf::ErrorBand band;
    double correction = 1;  ///< factor of a calibration, in `step` and `prediction` already
    std::string
        limit;  ///< what the step waits for if not the devices: "input pipeline"; empty otherwise

    int devices() const { return training.parallel.devices(); }
    Seconds training_time() const { return steps * step; }
};

/// The calibration of one's own runs that holds for this candidate, if there is one: its factor on
/// the step, its band in place of the published one.
void apply_calibration(Candidate& c, const workload::Model& model,
                       const perf::Calibrations& calibrations);

/// "FSDP 64", "TP 8 · PP 2 · DP 4 · ZeRO-1", "1 GPU": the mapping in a few words.
std::string describe_mapping(const workload::Training& t);
/// The simpler of two mappings has the smaller number: axes in use, then recompute.
int complexity(const workload::Training& t);
/// "8x p5.48xlarge", "p5.4xlarge".
std::string describe_cluster(const Candidate& c);

/// The prediction if the user's own MFU replaced the predicted compute time; exposed communication,
/// bubble and stragglers stay as predicted. Compute time = model FLOPs / (devices * peak * mfu),
/// its parts in proportion; tokens/s, MFU and shares follow from the new step.
perf::Prediction with_mfu(perf::Prediction p, FlopPerSecond peak, int devices, double mfu);

}  // namespace trainyard::plan

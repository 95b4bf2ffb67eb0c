#pragma once
// A run.yaml and what the model says about it, without any calibration.

#include <string>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::cli {

struct PredictedRun {
    workload::Run run;
    workload::Training training;  ///< with Neuron cores merged into chips
    perf::Cluster cluster;
    perf::Prediction prediction;
};
Result<PredictedRun> predict_file(const std::string& path, const catalog::Catalog& catalog);

}  // namespace trainyard::cli

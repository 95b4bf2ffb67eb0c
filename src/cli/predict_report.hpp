#pragma once
// One prediction for people and for programs.

#include <string>

#include "io.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/perf/calibration.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::cli {

struct PredictReport {
    const workload::Run& run;
    const workload::Training& training;
    const perf::Cluster& cluster;
    const perf::Prediction& prediction;  ///< corrected already
    const perf::Calibration* calibration = nullptr;
};

std::string predict_text(const PredictReport& r, const Io& io);
doc::Node predict_json(const PredictReport& r);

}  // namespace trainyard::cli

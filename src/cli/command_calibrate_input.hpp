#pragma once
// Calibration files, and the records that they come from.

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/perf/calibration.hpp"

namespace trainyard::cli {

/// --calibration FILE of plan, predict and simulate.
Option calibration_option();
/// Empty without the option.
Result<perf::Calibrations> load_calibrations(const Args& args);

/// What was run where, and what the model says about it now.
struct Predicted {
    perf::CalibrationKey key;
    Seconds step;
    perf::ErrorBand band;
    std::string words;  ///< "llama-3.1-8b on 5x p4d.24xlarge"
};

struct Record {
    std::string file;
    Location where;
    std::vector<perf::StepSpan> spans;   ///< without the first of each start
    std::optional<Predicted> predicted;  ///< of the plan that is in the record
};

struct CalibrateInput {
    std::vector<Record> records;
    std::optional<Predicted> named;  ///< the plan.json or run.yaml among the arguments
};
Result<CalibrateInput> calibrate_input(const std::vector<std::string>& files,
                                       const catalog::Catalog& catalog);

}  // namespace trainyard::cli

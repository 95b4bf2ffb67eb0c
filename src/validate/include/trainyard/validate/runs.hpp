#pragma once
// Published, measured training runs (CSV, columns documented in docs/reference/runs-csv.md) as
// predictable configurations.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::validate {

/// What the source measured; others were derived from it.
enum class Quantity { step_time, tokens_per_second, tflops, mfu };
std::string_view to_string(Quantity q);

struct Observation {
    std::string id, source, accelerator, framework, group, model_name, mapping;
    std::string tier;   ///< "1", "2", "3"
    std::string stack;  ///< "tuned" or "stock"
    workload::Model model;
    workload::Training training;
    perf::Cluster cluster;
    Quantity quantity = Quantity::step_time;
    std::optional<Seconds> step;  ///< measured, or derived from what was measured
    std::optional<Bytes> memory;  ///< measured peak per device
    bool ran_out_of_memory = false;
    bool recompute_unknown =
        false;            ///< not stated by the source: the lightest mode that fits is assumed
    std::string skipped;  ///< why it cannot be predicted; empty if it can
    std::vector<std::string> assumptions;
};

/// One per row, in file order. Unknown values are filled by the rules of
/// docs/reference/runs-csv.md, never by a fit.
Result<std::vector<Observation>> read_runs(const doc::CsvTable& table,
                                           const catalog::Catalog& catalog);

}  // namespace trainyard::validate

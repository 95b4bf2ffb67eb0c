#pragma once
// Predictions against measurements: the error table, ranking quality and interval coverage.

#include <map>
#include <string>
#include <vector>

#include "trainyard/doc/node.hpp"
#include "trainyard/validate/runs.hpp"

namespace trainyard::validate {

struct Scored {
    const Observation* run = nullptr;
    std::string skipped;
    std::optional<Seconds> predicted_step;
    std::optional<double> error;  ///< predicted / measured - 1, on step time
    std::optional<Bytes> predicted_memory;
    std::optional<double> memory_error;
    bool fits = true;
    bool offloaded = false;  ///< fits only because layer inputs are counted in host memory
    perf::Prediction prediction;
};

/// Predicts every row it can, in order.
std::vector<Scored> score(const std::vector<Observation>& runs, const perf::Constants& constants);

/// Absolute errors at the median and the 90th percentile; bias is the median signed error.
struct ErrorSummary {
    int n = 0;
    double median = 0, p90 = 0, bias = 0;
    double covered = 0;  ///< share of rows inside the 80 % band
};
ErrorSummary summarise(const std::vector<const Scored*>& rows);
/// The same with every GROUP weighing one.
ErrorSummary summarise_by_group(const std::vector<const Scored*>& rows);

struct Ranking {
    int groups = 0;  ///< one job on one cluster with at least two distinct configurations
    long pairs = 0,
         ordered = 0;  ///< pairs of one group that differ by more than 3 % in tokens/s per device
    double worst_regret = 0;  ///< measured time of our choice / best measured - 1
    double mean_regret = 0;
};
Ranking rank_groups(const std::vector<const Scored*>& rows);

/// Tables for people: totals, per accelerator, source, parallelism, memory, ranking, the ten worst
/// rows.
std::string render_text(const std::vector<Scored>& rows);
/// The same as a Markdown page that says what it compares (docs/validation.md).
std::string render_markdown(const std::vector<Scored>& rows);
doc::Node render_json(const std::vector<Scored>& rows);

}  // namespace trainyard::validate

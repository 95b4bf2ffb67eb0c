#pragma once
// A claim of the guide, computed with the performance model: the base and the cluster of each
// scenario, each with its fastest mapping, and where the efficiency is lost.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anchors_table.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/perf/predict.hpp"

namespace trainyard::cli {

/// One cluster with the fastest mapping that fits in its memory.
struct Side {
    perf::Cluster cluster;
    workload::Training training;
    perf::Prediction prediction;
    double devices() const { return cluster.accelerators; }
};

/// Device time per token that one term of the step costs on N beyond what it costs on the base,
/// over all device time per token on the base. The losses of a scenario sum to 1 / efficiency - 1;
/// a negative one is a gain.
struct Loss {
    std::string_view term;
    double share = 0;
};

struct ScenarioResult {
    const Scenario* scenario = nullptr;
    std::optional<Side> base, side;  ///< nothing: no mapping of the set fits
    double efficiency = 0;           ///< (tokens/s on N / N) / (tokens/s on base / base devices)
    double low = 0, high = 0;        ///< of the efficiency, see compute()
    std::vector<Loss> losses;        ///< largest first
    bool known() const { return base.has_value() && side.has_value(); }
    double speedup() const;  ///< tokens/s on N / tokens/s on the base
    /// Share of the step on N that is neither exposed communication nor bubble nor waiting for the
    /// slowest device: the efficiency against the same devices with a free network, which needs no
    /// base.
    double working() const;
    /// In the unit of the anchor's measure.
    double value(Measure m) const { return m == Measure::efficiency ? efficiency : speedup(); }
    /// `efficiency` (or low, or high) in that unit.
    double in_measure(Measure m, double of_efficiency) const;
};

struct AnchorResult {
    const Anchor* anchor = nullptr;
    std::vector<ScenarioResult> scenarios;
    const ScenarioResult& answer() const { return scenarios.front(); }
    /// The scenario whose value is nearest to the claim, by ratio; nullptr if none is known.
    const ScenarioResult* nearest() const;
    /// The nearest whose value is over (or not over) the claim.
    const ScenarioResult* nearest_above() const;
    const ScenarioResult* nearest_below() const;
};

/// The legal mappings of `devices` devices that a scenario may choose from: TP and PP of 1, 2, 4, 8
/// (TP inside a node), PP also interleaved in 2 and 4 chunks; ZeRO 0, 1, 3 and 3 sharded inside the
/// node; micro-batch up to 32; recompute none, selective, full; sequence parallelism with TP; AdamW
/// with fp32 states, bf16. `sharded`: TP and PP are 1.
std::vector<workload::Training> stated_mappings(const workload::Model& model, int sequence,
                                                const Scenario& scenario, int devices,
                                                int per_node);

/// Result of one scenario. The range is the 80 % step-time band of the larger cluster alone, with
/// the base held: wider than the truth where both err alike.
Result<ScenarioResult> compute(const Anchor& anchor, const Scenario& scenario,
                               const catalog::Catalog& catalog);
Result<std::vector<AnchorResult>> compute_all(const std::vector<Anchor>& anchors,
                                              const catalog::Catalog& catalog);

}  // namespace trainyard::cli

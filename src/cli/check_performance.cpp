#include "check_performance.hpp"

#include <algorithm>

#include "trainyard/perf/predict.hpp"

namespace trainyard::cli {

namespace {

/// 4M tokens a step, Llama 2 paper, section 2.2 (arXiv 2307.09288).
constexpr int kSequences = 1'024;

}  // namespace

using Memory = lint::Performance::Memory;

std::optional<Memory> CheckPerformance::memory(const catalog::Catalog& catalog,
                                               const workload::Model& model,
                                               const workload::Training& training,
                                               const catalog::Instance& instance, int nodes) const {
    if (!workload::check_mapping(model, training).empty()) return std::nullopt;
    const auto cluster = perf::cluster_of(catalog, instance, nodes);
    if (!cluster) return std::nullopt;
    const workload::Training merged = perf::merge_neuron_cores(training, cluster->accelerators);
    if (merged.parallel.devices() != cluster->accelerators) return std::nullopt;
    const perf::MemoryBreakdown m = perf::Predictor(model, *cluster).memory(merged);
    return Memory{m.needed(), m.capacity, std::string(m.largest())};
}

std::optional<double> CheckPerformance::lost_over_tcp(const catalog::Catalog& catalog,
                                                      const catalog::Instance& instance,
                                                      int nodes) const {
    const auto model = workload::find_model("llama-3.1-8b");
    auto cluster = perf::cluster_of(catalog, instance, nodes);
    if (!model || !cluster || nodes < 2 || cluster->inter.fabric != perf::Fabric::efa) {
        return std::nullopt;
    }
    workload::Training t;
    t.sequence = 4'096;
    t.parallel.data = cluster->accelerators;
    t.parallel.zero = workload::Zero::optimizer;
    t.global_batch = std::max(kSequences / cluster->accelerators, 1) * cluster->accelerators;
    t.recompute = workload::Recompute::full;
    const auto with = perf::predict(*model, t, *cluster);
    cluster->inter = perf::first_card_tcp(*cluster, instance);
    const auto without = perf::predict(*model, t, *cluster);
    if (!with || !without || without->step.total <= with->step.total) return std::nullopt;
    return 1 - with->step.total / without->step.total;
}

}  // namespace trainyard::cli

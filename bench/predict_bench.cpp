// One prediction, warm and cold. Warm: the costs of a layer are memoised and the mapping changes
// only in what they do not depend on (DP, PP, ZeRO, global batch, micro-batches seen before). Cold:
// nothing is known, as in `trainyard predict`. Goals: warm under 5 us; 9,216 GPUs under 1 ms.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/perf/predict.hpp"

namespace {

using namespace trainyard;

const catalog::Catalog& the_catalog() {
    static const catalog::Catalog loaded = [] {
        auto c = catalog::Catalog::load(catalog::Catalog::embedded_tables());
        if (!c) std::abort();
        return std::move(*c);
    }();
    return loaded;
}

workload::Model model_named(const std::string& name) {
    auto m = workload::find_model(name);
    if (!m) std::abort();
    return std::move(*m);
}

perf::Cluster cluster_of(const std::string& type, int nodes) {
    const catalog::Instance* i = the_catalog().instance(type);
    if (i == nullptr) std::abort();
    auto c = perf::cluster_of(the_catalog(), *i, nodes);
    if (!c) std::abort();
    return *c;
}

/// Legal mappings of `devices` that share one TP: PP, DP, ZeRO, recompute and micro-batch vary.
std::vector<workload::Training> mappings(const workload::Model& m, const std::string& stack,
                                         int sequence, int global_batch, int devices, int tensor) {
    std::vector<workload::Training> all;
    for (int pipeline = 1; pipeline * tensor <= devices; pipeline *= 2) {
        for (int micro_batch : {1, 2, 4}) {
            for (auto zero :
                 {workload::Zero::none, workload::Zero::optimizer, workload::Zero::weights}) {
                for (auto r : {workload::Recompute::none, workload::Recompute::selective,
                               workload::Recompute::full}) {
                    workload::Training t;
                    t.stack = stack;
                    t.sequence = sequence;
                    t.global_batch = global_batch;
                    t.micro_batch = micro_batch;
                    t.recompute = r;
                    t.parallel.tensor = tensor;
                    t.parallel.sequence_parallel = tensor > 1;
                    t.parallel.pipeline = pipeline;
                    t.parallel.data = devices / tensor / pipeline;
                    t.parallel.zero = zero;
                    if (workload::is_legal_mapping(m, t)) all.push_back(t);
                }
            }
        }
    }
    if (all.empty()) std::abort();
    return all;
}

void predict_all(benchmark::State& state, perf::Predictor& predictor,
                 const std::vector<workload::Training>& all) {
    std::size_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(predictor.predict(all[next]));
        next = next + 1 == all.size() ? 0 : next + 1;
    }
    state.counters["mappings"] = static_cast<double>(all.size());
}

void warm_prediction(benchmark::State& state, const std::string& model, const std::string& stack) {
    const workload::Model m = model_named(model);
    perf::Predictor predictor(m, cluster_of("p4de.24xlarge", 64));
    predict_all(state, predictor, mappings(m, stack, 2048, 1536, 512, 8));
}

void warm_memory(benchmark::State& state) {
    const workload::Model m = model_named("gpt3-175b");
    perf::Predictor predictor(m, cluster_of("p4de.24xlarge", 64));
    const auto all = mappings(m, "", 2048, 1536, 512, 8);
    std::size_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(predictor.memory(all[next]));
        next = next + 1 == all.size() ? 0 : next + 1;
    }
}

/// A new predictor each time: parameters counted, network and device built, layers costed.
void cold_prediction(benchmark::State& state, const std::string& model) {
    const workload::Model m = model_named(model);
    const perf::Cluster cluster = cluster_of("p4de.24xlarge", 64);
    const workload::Training t = mappings(m, "", 2048, 1536, 512, 8).front();
    for (auto _ : state) {
        perf::Predictor predictor(m, cluster);
        benchmark::DoNotOptimize(predictor.predict(t));
    }
}

/// Cold, on 1,152 p5.48xlarge: TP 8, PP 16, DP 72, 9,216 H100.
void gpus_9216(benchmark::State& state) {
    const workload::Model m = model_named("llama-3.1-405b");
    const perf::Cluster cluster = cluster_of("p5.48xlarge", 1152);
    workload::Training t;
    t.sequence = 8192;
    t.global_batch = 72 * 32;
    t.recompute = workload::Recompute::selective;
    t.parallel.tensor = 8;
    t.parallel.sequence_parallel = true;
    t.parallel.pipeline = 16;
    t.parallel.data = 72;
    t.parallel.zero = workload::Zero::optimizer;
    if (!workload::is_legal_mapping(m, t) || t.parallel.devices() != cluster.accelerators)
        std::abort();
    for (auto _ : state) {
        perf::Predictor predictor(m, cluster);
        benchmark::DoNotOptimize(predictor.predict(t));
    }
}

}  // namespace

BENCHMARK_CAPTURE(warm_prediction, gpt3_175b, "gpt3-175b", "")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(warm_prediction, gpt3_175b_named_stack, "gpt3-175b", "megatron-2021")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(warm_prediction, mixtral_8x7b, "mixtral-8x7b", "")->Unit(benchmark::kMicrosecond);
BENCHMARK(warm_memory)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cold_prediction, gpt3_175b, "gpt3-175b")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cold_prediction, mixtral_8x7b, "mixtral-8x7b")->Unit(benchmark::kMicrosecond);
BENCHMARK(gpus_9216)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();

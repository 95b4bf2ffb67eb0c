// The planner as a user meets it: the search alone, and a whole plan, over the embedded catalog.
// Goal (docs/reference/plan.md): the full search for a 70B job under one second.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/plan/plan.hpp"

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

plan::Request job(const std::string& model, double tokens) {
    auto m = workload::find_model(model);
    if (!m) std::abort();
    plan::Request r;
    r.job.model = std::move(*m);
    r.job.tokens = tokens * kToken;
    r.job.deadline = 30 * kDay;
    r.today = "2026-12-01";
    return r;
}

void search_whole_catalog(benchmark::State& state, const std::string& model, double tokens) {
    const plan::Request r = job(model, tokens);
    const plan::Assumptions& a = plan::Assumptions::embedded();
    the_catalog();
    long mappings = 0;
    for (auto _ : state) {
        const plan::SearchResult found = plan::search(r, the_catalog(), a);
        mappings = found.stats.mappings;
        benchmark::DoNotOptimize(found.candidates.data());
    }
    state.counters["mappings"] = static_cast<double>(mappings);
}

void whole_plan(benchmark::State& state, const std::string& model, double tokens) {
    const plan::Request r = job(model, tokens);
    const plan::Assumptions& a = plan::Assumptions::embedded();
    the_catalog();
    for (auto _ : state) {
        const auto p = plan::make_plan(r, the_catalog(), a);
        benchmark::DoNotOptimize(p.has_value());
    }
}

}  // namespace

BENCHMARK_CAPTURE(search_whole_catalog, llama_3_1_8b, "llama-3.1-8b", 300e9)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_whole_catalog, llama_3_1_70b, "llama-3.1-70b", 100e9)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_whole_catalog, llama_3_1_405b, "llama-3.1-405b", 15e12)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_whole_catalog, mixtral_8x7b, "mixtral-8x7b", 50e9)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole_plan, llama_3_1_8b, "llama-3.1-8b", 300e9)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole_plan, llama_3_1_70b, "llama-3.1-70b", 100e9)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();

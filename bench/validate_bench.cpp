// `trainyard validate` without reading and printing: every row of the published runs predicted.
// Needs a runs CSV:
// ../shared/data/runs_open.csv, or the file that TRAINYARD_RUNS names; skipped if it is not there.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "trainyard/perf/constants.hpp"
#include "trainyard/validate/score.hpp"

namespace {

using namespace trainyard;

std::string runs_path() {
    const char* named = std::getenv("TRAINYARD_RUNS");
    return named != nullptr ? named : "../shared/data/runs_open.csv";
}

void validate_runs(benchmark::State& state) {
    std::ifstream file(runs_path());
    if (!file) {
        state.SkipWithError("SKIP: no runs CSV; set TRAINYARD_RUNS");
        return;
    }
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto table = doc::parse_csv(text, runs_path());
    const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    if (!table || !catalog) std::abort();
    const auto runs = validate::read_runs(*table, *catalog);
    if (!runs) std::abort();
    for (auto _ : state) {
        benchmark::DoNotOptimize(validate::score(*runs, perf::default_constants()));
    }
    state.counters["rows"] = static_cast<double>(runs->size());
}

}  // namespace

BENCHMARK(validate_runs)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();

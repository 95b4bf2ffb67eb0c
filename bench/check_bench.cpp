// check on many files: the golden cases, again and again under other names, as one case. Goals: 100
// files under 200 ms, 2,000 under 1 s, reading them from the disk not counted.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "trainyard/lint/check.hpp"

namespace {

using trainyard::lint::SourceText;

/// Run in the repository root.
std::vector<SourceText> golden_inputs() {
    std::vector<SourceText> texts;
    for (const auto& e : std::filesystem::recursive_directory_iterator("fuzz/corpus/check")) {
        if (!e.is_regular_file()) continue;
        std::ifstream file(e.path());
        std::ostringstream text;
        text << file.rdbuf();
        texts.push_back({e.path().filename().string(), text.str(), false});
    }
    if (texts.empty()) std::abort();
    return texts;
}

void check_files(benchmark::State& state) {
    static const std::vector<SourceText> kInputs = golden_inputs();
    std::vector<SourceText> texts;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.range(0)); ++i) {
        SourceText t = kInputs[i % kInputs.size()];
        t.path = std::to_string(i / 50) + "/" + std::to_string(i) + "_" + t.path;
        texts.push_back(std::move(t));
    }
    for (auto _ : state) {
        const trainyard::lint::Report report = trainyard::lint::check(texts);
        if (report.findings.empty()) std::abort();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK(check_files)->Arg(100)->Arg(2000)->UseRealTime()->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();

// `trainyard simulate --cases` without reading and printing, one thread: jobs of the published
// table (zones x starts x 4 deadlines and overheads) per second, by policy. Needs the published
// traces and tables: ../shared/data/spot, or the folder that TRAINYARD_SPOT names; skipped if they
// are not there.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "trainyard/spot/cases.hpp"

namespace {

using namespace trainyard;
using namespace trainyard::spot;

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Table {
    std::vector<Case> cases;
    std::map<std::string, TickTrace> traces;
};

/// Cases of the published table; empty if it is not there.
const Table& published() {
    static const Table table = [] {
        Table t;
        const char* named = std::getenv("TRAINYARD_SPOT");
        const std::string folder = named != nullptr ? named : "../shared/data/spot";
        const std::string text = read_text(folder + "/up_baseline_expected.csv");
        if (text.empty()) return t;
        auto cases = read_cases(text, "up_baseline_expected.csv");
        if (!cases) std::abort();
        t.cases = *std::move(cases);
        for (const Case& c : t.cases) {
            if (t.traces.contains(c.zone)) continue;
            const std::string path = folder +
                                     "/skypilot-spot-traces/availability/1-node/"
                                     "aws-02-15-2023/" +
                                     c.zone + "_v100_1.json";
            const auto set =
                import_trace(read_text(path), path, {.convention = Convention::available});
            if (!set) std::abort();
            t.traces.emplace(c.zone, TickTrace(set->pools.front()));
        }
        return t;
    }();
    return table;
}

/// `policy` for every case of "up"; "" plays the table as it is.
void play_table(benchmark::State& state, const std::string& policy) {
    std::vector<Case> cases;
    for (const Case& c : published().cases) {
        if (policy.empty()) cases.push_back(c);
        if (policy.empty() || c.policy != "up") continue;
        cases.push_back(c);
        cases.back().policy = policy;
    }
    if (cases.empty()) {
        state.SkipWithError("SKIP: no published table; set TRAINYARD_SPOT");
        return;
    }
    std::vector<const TickTrace*> traces;
    for (const Case& c : cases) traces.push_back(&published().traces.at(c.zone));
    for (auto _ : state) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            benchmark::DoNotOptimize(play_case(cases[i], *traces[i], CasePrices{}));
        }
    }
    state.counters["jobs"] = benchmark::Counter(
        static_cast<double>(cases.size()) * static_cast<double>(state.iterations()),
        benchmark::Counter::kIsRate);
}

/// The same through the policy's own interface, asked at every tick.
void play_by_ticks(benchmark::State& state) {
    if (published().cases.empty()) {
        state.SkipWithError("SKIP: no published table; set TRAINYARD_SPOT");
        return;
    }
    for (auto _ : state) {
        for (const Case& c : published().cases) {
            const auto policy = make_policy(c.policy);
            benchmark::DoNotOptimize(
                play_case_by_ticks(c, published().traces.at(c.zone), CasePrices{}, *policy));
        }
    }
    state.counters["jobs"] = benchmark::Counter(
        static_cast<double>(published().cases.size()) * static_cast<double>(state.iterations()),
        benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(play_table, published, "");
BENCHMARK_CAPTURE(play_table, up, "up");
BENCHMARK_CAPTURE(play_table, up_nohyst, "up_nohyst");
BENCHMARK_CAPTURE(play_table, greedy, "greedy");
BENCHMARK_CAPTURE(play_table, optimal, "optimal")->Unit(benchmark::kMillisecond);
BENCHMARK(play_by_ticks)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

// Runs per second of the fleet engine, on processes fitted to the published traces of two zones
// (data/spot/processes.csv): one calm, one that interrupts three times as often and changes with
// the hour of the day. Goals: 100,000 one-week runs of 8 nodes per second and core; two threads 1.8
// times one; memory that does not grow with the number of runs.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "trainyard/spot/fit.hpp"
#include "trainyard/spot/simulate.hpp"

namespace {

using namespace trainyard;
using namespace trainyard::spot;

constexpr const char* kWest2b = "p3.2xlarge/us-west-2b/2023-02";
constexpr const char* kEast1f = "p3.2xlarge/us-east-1f/2023-02";

Pool pool_of(const char* name) {
    Pool pool;
    for (const PoolProcess& process : embedded_processes()) {
        if (process.name == name) pool.process = process;
    }
    pool.process->gang_share = 0.7;  // fitted on single nodes: here gangs die whole or in part
    pool.process->burst = 2.1;
    pool.name = name;
    return pool;
}

/// A week of wall time: as much work as the pool is up for.
RunSpec week_of(const char* name) {
    RunSpec spec;
    spec.nodes = spec.min_nodes = 8;
    spec.pools = {pool_of(name)};
    const PoolProcess& process = *spec.pools[0].process;
    const Seconds up = process.up.mean();
    spec.work = up / (up + process.down.mean()) * 7 * kDay;
    spec.start = {3 * kMinute, 2 * kMinute, 1 * kMinute};
    spec.checkpoints.blocking = 5 * kSecond;
    spec.checkpoints.persist = 60 * kSecond;
    spec.checkpoints.on_notice = 60 * kSecond;
    spec.checkpoints.restore_s3 = 60 * kSecond;
    spec.failures_per_node_hour = 1e-4;
    return spec;
}

RunSpec eight_nodes() { return week_of(kWest2b); }
RunSpec eight_nodes_hard() { return week_of(kEast1f); }
RunSpec large_cluster() {  // 2,048 nodes on demand, one failure in three hours
    RunSpec spec = week_of(kWest2b);
    spec.nodes = spec.min_nodes = 2048;
    spec.failures_per_node_hour = 1.0 / 3 / 2048;
    spec.pools.resize(1);
    spec.pools[0].purchase = Purchase::on_demand;
    spec.pools[0].process.reset();
    return spec;
}

double peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void runs(benchmark::State& state, RunSpec (*make)(), const char* policy, int threads) {
    const RunSpec spec = make();
    SimulateOptions options;
    options.runs = static_cast<std::uint64_t>(state.range(0));
    options.threads = threads;
    Summary s;
    for (auto _ : state) {
        s = *simulate(spec, policy, options);
        benchmark::DoNotOptimize(s.unseed);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["wall_h"] = s.hours.mean;
    state.counters["interruptions"] = s.mean_interruptions;
    state.counters["peak_MiB"] = peak_mib();
}

// One thread. `interruptions` says how much a run holds.
BENCHMARK_CAPTURE(runs, week_8_nodes, eight_nodes, "spot_only", 1)->Arg(20000)->UseRealTime();
BENCHMARK_CAPTURE(runs, week_8_nodes_us_east_1f, eight_nodes_hard, "spot_only", 1)
    ->Arg(20000)
    ->UseRealTime();
BENCHMARK_CAPTURE(runs, week_2048_nodes, large_cluster, "on_demand", 1)->Arg(2000)->UseRealTime();
// Two threads, and memory: the same run 10 and 100 times as often.
BENCHMARK_CAPTURE(runs, two_threads, eight_nodes, "spot_only", 2)
    ->Arg(20000)
    ->Arg(200000)
    ->Arg(2000000)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();

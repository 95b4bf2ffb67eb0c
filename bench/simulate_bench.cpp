// Runs per second of the fleet engine. The process is that of a p3.2xlarge pool as published in the
// traces of Can't Be Late (45 days from 2023-02-15): mean up and down times and Weibull shapes of
// two zones. Goals: 100,000 one-week runs of 8 nodes per second and core; two threads 1.8 times
// one; memory that does not grow with the number of runs.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <string>

#include "trainyard/spot/simulate.hpp"

namespace {

using namespace trainyard;
using namespace trainyard::spot;

struct Zone {
    const char* name;
    double up_h, up_shape, down_h, down_shape;
};
constexpr Zone kWest2b = {"us-west-2b", 10.40, 0.50, 1.10, 0.8};
constexpr Zone kEast1f = {"us-east-1f", 2.26, 0.66, 1.56, 0.8};

Weibull life(double mean_h, double shape) {
    return {mean_h / std::tgamma(1 + 1 / shape) * kHour, shape};
}

Pool pool_of(const Zone& zone) {
    Pool pool;
    pool.name = zone.name;
    pool.price = 0.95 * kUsdPerHour;
    PoolProcess process;
    process.up = life(zone.up_h, zone.up_shape);
    process.down = life(zone.down_h, zone.down_shape);
    process.gang_share = 0.7;
    process.burst = 2.1;
    process.price = {0.95, 0.03, 12 * kHour};
    pool.process = process;
    return pool;
}

/// A week of wall time: as much work as the pool is up for.
RunSpec week_of(const Zone& zone) {
    RunSpec spec;
    spec.nodes = spec.min_nodes = 8;
    spec.work = zone.up_h / (zone.up_h + zone.down_h) * 7 * kDay;
    spec.start = {3 * kMinute, 2 * kMinute, 1 * kMinute};
    spec.checkpoints.blocking = 5 * kSecond;
    spec.checkpoints.persist = 60 * kSecond;
    spec.checkpoints.on_notice = 60 * kSecond;
    spec.checkpoints.restore_s3 = 60 * kSecond;
    spec.failures_per_node_hour = 1e-4;
    spec.pools = {pool_of(zone)};
    return spec;
}

RunSpec eight_nodes() { return week_of(kWest2b); }
RunSpec eight_nodes_hard() { return week_of(kEast1f); }
RunSpec with_hours_of_day() {
    RunSpec spec = week_of(kWest2b);
    for (std::size_t h = 0; h < 24; ++h)
        spec.pools[0].process->hour_factor[h] = 1 + 0.5 * std::sin(0.2618 * static_cast<double>(h));
    return spec;
}
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
BENCHMARK_CAPTURE(runs, week_8_nodes_hour_of_day, with_hours_of_day, "spot_only", 1)
    ->Arg(20000)
    ->UseRealTime();
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

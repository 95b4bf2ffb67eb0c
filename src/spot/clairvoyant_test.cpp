#include "trainyard/spot/clairvoyant.hpp"

#include <gtest/gtest.h>

#include "test_runs.hpp"

namespace trainyard::spot {
namespace {

PoolTrace trace_of(std::vector<double> hours, std::vector<int> nodes) {
    PoolTrace t;
    for (const double h : hours) t.start.push_back(h * 3600);
    t.nodes = std::move(nodes);
    t.end = 1000 * kHour;
    return t;
}

Bound bound_of(const RunSpec& spec, std::uint64_t runs = 1) {
    SimulateOptions options;
    options.runs = runs;
    auto bound = clairvoyant(spec, options);
    EXPECT_TRUE(bound) << (bound ? "" : format(bound.error().diagnostics));
    return bound ? *bound : Bound{};
}

RunSpec replay(const PoolTrace& trace, Seconds work, Seconds deadline) {
    RunSpec spec = run_of(work, 1);
    spec.trace_from_start = true;
    spec.deadline = deadline;
    spec.pools = {spot_pool(1, {}, {}), on_demand_pool(3)};
    spec.pools[0].process.reset();
    spec.pools[0].trace = &trace;
    return spec;
}

// Spot from 0 to 4 h and from 6 h on; 8 h of work, nothing else costs time. Deadline 10 h: 8 h of
// spot at $1. Deadline 9 h: only 7 h of spot are in it, 7 + 3. Who may be free in the first hour
// lets go at 3 h and launches again, since EC2 will end that life at 4 h: $1 less.
TEST(Clairvoyant, TakesSpotWhereItKnowsItIs) {
    const PoolTrace trace = trace_of({0, 4, 6}, {1, 0, 1});
    for (const double free : {1.0, 0.0}) {
        RunSpec spec = replay(trace, 8 * kHour, 10 * kHour);
        spec.rules.first_hour_free = free > 0;
        EXPECT_NEAR(bound_of(spec).usd.mean, 8 - free, 1e-6);
        spec.deadline = 9 * kHour;
        EXPECT_NEAR(bound_of(spec).usd.mean, 10 - free, 1e-6);
    }
}

// The life of 30 minutes ends by EC2 and is free: 8 h of work cost 7.5.
TEST(Clairvoyant, UsesTheFreeFirstHour) {
    const PoolTrace trace = trace_of({0, 0.5, 1}, {1, 0, 1});
    RunSpec spec = replay(trace, 8 * kHour, 10 * kHour);
    EXPECT_NEAR(bound_of(spec).usd.mean, 7.5, 1e-6);
    spec.rules.first_hour_free = false;
    EXPECT_NEAR(bound_of(spec).usd.mean, 8, 1e-6);
}

TEST(Clairvoyant, SaysWhenTheDeadlineCannotBeMet) {
    const PoolTrace trace = trace_of({0, 4, 6}, {1, 0, 1});
    RunSpec spec = replay(trace, 8 * kHour, 9 * kHour);
    spec.pools.resize(1);
    EXPECT_EQ(bound_of(spec).feasible, 0);
}

TEST(Clairvoyant, RefusesWhatItCannotBound) {
    RunSpec spec = busy_run();  // elastic
    spec.deadline.reset();
    const auto bound = clairvoyant(spec, {});
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().diagnostics.size(), 2U);
}

// On every run that a policy finishes in time it has paid at least the bound.
TEST(Clairvoyant, NoPolicyIsCheaper) {
    RunSpec spec = busy_run();
    spec.min_nodes = spec.nodes;
    spec.checkpoints.restore_from = RestoreFrom::s3;
    spec.deadline = 90 * kHour;
    Pool second = spec.pools[0];
    second.process->price.mean = 24;
    spec.pools.push_back(second);
#ifdef __SANITIZE_ADDRESS__
    constexpr int kSeeds = 6;
#else
    constexpr int kSeeds = 30;
#endif
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        SimulateOptions options;
        options.runs = 1;
        options.seed = seed;
        const auto bound = clairvoyant(spec, options);
        ASSERT_TRUE(bound);
        for (const PolicyInfo& info : policies()) {
            const auto policy = make_policy(info.name == "share" ? "share:0.5" : info.name);
            if (policy == nullptr) continue;
            const RunResult r = play(spec, *policy, seed, 0, nullptr);
            if (r.ending != Ending::finished || r.time.wall() > *spec.deadline) continue;
            EXPECT_GE(r.money.total() / kUsd, bound->usd.mean * (1 - 1e-9)) << info.name;
        }
    }
}

}  // namespace
}  // namespace trainyard::spot

// What each policy of the fleet holds in a given view, and all of them through the engine.

#include <gtest/gtest.h>

#include "test_runs.hpp"
#include "trainyard/spot/policy.hpp"

namespace trainyard::spot {
namespace {

PoolView spot(double usd_per_hour, int available, double since_h, int held = 0) {
    PoolView v;
    v.usd_per_hour = usd_per_hour;
    v.available = available;
    v.since = since_h * kHour;
    v.held = held;
    return v;
}
PoolView on_demand(double usd_per_hour, int held = 0) {
    PoolView v = spot(usd_per_hour, 1000, 100, held);
    v.purchase = Purchase::on_demand;
    return v;
}

std::vector<int> decided(std::string_view name, const std::vector<PoolView>& pools, int nodes,
                         int min_nodes) {
    View view;
    view.deadline = 100 * kHour;
    view.work = 50 * kHour;
    view.planned_work = view.work;
    view.nodes = nodes;
    view.min_nodes = min_nodes;
    view.pools = pools;
    Decision decision;
    decision.nodes.resize(pools.size());
    const auto policy = make_policy(name);
    EXPECT_NE(policy, nullptr) << name;
    if (policy == nullptr) return {};
    policy->begin(view);
    policy->decide(view, decision);
    return decision.nodes;
}

using Nodes = std::vector<int>;

// The third pool is the cheapest, the second the one that has been up for longest.
const std::vector<PoolView> kThree = {spot(3, 8, 4), spot(4, 8, 10), spot(2, 8, 1), on_demand(9)};

TEST(Policies, EachStrategyTakesItsPool) {
    EXPECT_EQ(decided("spot_only", kThree, 8, 8), (Nodes{0, 0, 8, 0}));
    EXPECT_EQ(decided("lowest_price", kThree, 8, 8), (Nodes{0, 0, 8, 0}));
    EXPECT_EQ(decided("capacity_optimized", kThree, 8, 8), (Nodes{0, 8, 0, 0}));
    // Half of the longest time up, 5 h, leaves only the second; with 9 h for the first, the first
    // is the cheaper of the two.
    EXPECT_EQ(decided("price_capacity_optimized", kThree, 8, 8), (Nodes{0, 8, 0, 0}));
    auto pools = kThree;
    pools[0].since = 9 * kHour;
    EXPECT_EQ(decided("price_capacity_optimized", pools, 8, 8), (Nodes{8, 0, 0, 0}));
    EXPECT_EQ(decided("diversified", kThree, 8, 8), (Nodes{3, 3, 2, 0}));
}

TEST(Policies, WhatRunsIsKeptAndTheRestComesFromTheBest) {
    const std::vector<PoolView> pools = {spot(3, 8, 4, 5), spot(2, 8, 4)};
    EXPECT_EQ(decided("lowest_price", pools, 8, 8), (Nodes{5, 3}));
}

TEST(Policies, TooFewNodesAreNotHeld) {
    const std::vector<PoolView> pools = {spot(3, 4, 4, 4), spot(2, 3, 4)};
    for (const char* name : {"spot_only", "lowest_price", "capacity_optimized",
                             "price_capacity_optimized", "diversified", "rebalance"}) {
        EXPECT_EQ(decided(name, pools, 8, 8), (Nodes{0, 0})) << name;
        EXPECT_EQ(decided(name, pools, 8, 6), (Nodes{4, 3})) << name;
    }
}

TEST(Policies, ShareFillsItsPartFromEachSide) {
    EXPECT_EQ(decided("share:0.75", kThree, 8, 8), (Nodes{0, 0, 6, 2}));
    EXPECT_EQ(decided("share:0", kThree, 8, 8), (Nodes{0, 0, 0, 8}));
    // The spot part waits; on-demand nodes do not replace it.
    const std::vector<PoolView> none = {spot(3, 0, 0), on_demand(9, 2)};
    EXPECT_EQ(decided("share:0.75", none, 8, 2), (Nodes{0, 2}));
    EXPECT_EQ(decided("share:0.75", none, 8, 8), (Nodes{0, 0}));
    for (const char* wrong : {"share", "share:", "share:1.1", "share:-1", "share:x"})
        EXPECT_EQ(make_policy(wrong), nullptr) << wrong;
}

TEST(Policies, RebalanceMovesOnlyWhereAllFindRoom) {
    std::vector<PoolView> pools = {spot(2, 8, 4, 8), spot(3, 8, 4)};
    EXPECT_EQ(decided("rebalance", pools, 8, 8), (Nodes{8, 0}));
    pools[0].rebalance = true;
    EXPECT_EQ(decided("rebalance", pools, 8, 8), (Nodes{0, 8}));
    pools[1].available = 7;
    EXPECT_EQ(decided("rebalance", pools, 8, 8), (Nodes{8, 0}));
}

std::string with_argument(const std::string& name) { return name == "share" ? "share:0.5" : name; }

/// Three spot pools in two regions beside on demand.
RunSpec three_pools() {
    RunSpec spec = busy_run();
    spec.checkpoints.restore_from = RestoreFrom::s3;
    Pool second = spec.pools[0];
    second.name = "second";
    second.process->price.mean = 25;
    Pool third = second;
    third.region = 1;
    third.move_cost = 12 * kUsd;
    spec.pools.push_back(second);
    spec.pools.push_back(third);
    return spec;
}

TEST(Policies, EveryOnePlaysAndItsBooksBalance) {
#ifdef __SANITIZE_ADDRESS__
    constexpr int kRuns = 12;
#else
    constexpr int kRuns = 60;
#endif
    RunSpec spec = three_pools();
    for (const PolicyInfo& info : policies()) {
        const auto policy = make_policy(with_argument(info.name));
        if (policy == nullptr) continue;  // needs an argument of its own
        int finished = 0;
        for (std::uint64_t run = 0; run < kRuns; ++run) {
            // 60 h of 8 nodes at $20 to $60 are $9,600 to $28,800: half of the runs stop for money.
            const double budget = run % 2 == 0 ? 7000 : 50000;
            spec.budget = budget * kUsd;
            std::vector<TimelineEvent> timeline;
            const RunResult r = play(spec, *policy, 21, run, &timeline);
            ASSERT_FALSE(timeline.empty()) << info.name;
            const double wall = timeline.back().at / kSecond;
            EXPECT_NEAR(r.time.wall() / kSecond, wall, 1e-6 * wall + 1e-6) << info.name;
            EXPECT_LE(r.money.total() / kUsd, budget) << info.name;
            finished += r.ending == Ending::finished ? 1 : 0;
        }
        EXPECT_GT(finished, kRuns / 3) << info.name;
        EXPECT_LE(finished, kRuns / 2) << info.name;
    }
}

// Two zones, both up by the same law and independent: a job that may use either waits less.
TEST(Policies, TwoZonesBeatOne) {
    RunSpec spec = run_of(100 * kHour, 4);
    spec.start.boot = 4 * kMinute;
    spec.checkpoints.interval = 20 * kMinute;
    spec.pools = {spot_pool(5, {3 * kHour, 0.7}, {2 * kHour, 0.7})};
    SimulateOptions options;
    options.runs = 500;
    const double one = simulate(spec, "lowest_price", options)->hours.mean;
    spec.pools.push_back(spec.pools[0]);
    EXPECT_LT(simulate(spec, "lowest_price", options)->hours.mean, 0.9 * one);
}

}  // namespace
}  // namespace trainyard::spot

// Elastic sizes, peers, Capacity Blocks, refusals and moves, on replayed traces: all to the second.

#include <gtest/gtest.h>

#include "test_runs.hpp"

namespace trainyard::spot {
namespace {

PoolTrace trace_of(std::vector<double> seconds, std::vector<int> nodes) {
    PoolTrace t;
    t.capacity = 4;
    t.start = std::move(seconds);
    t.nodes = std::move(nodes);
    t.end = 1000 * kHour;
    return t;
}

RunSpec replay(const PoolTrace& trace, Seconds work) {
    RunSpec spec = run_of(work, 4);
    spec.trace_from_start = true;
    Pool pool;
    pool.name = "spot";
    pool.price = 3 * kUsdPerHour;
    pool.trace = &trace;
    spec.pools = {pool};
    return spec;
}

RunResult run(const RunSpec& spec, std::string_view policy) {
    return play(spec, *make_policy(policy), 1, 0, nullptr);
}

// Start 60 s; notice at 3480 s: 3420 s of steps, saved in 60 s; 60 s more are lost with two nodes
// at 3600 s. The other two go on after 60 + 30 s at half speed until all four are there at 7200 s:
// 3510 s make 1755 s of work. Another 90 s; the missing 7200 - 3420 - 1755 = 2025 s at full speed.
TEST(EngineFleet, AnElasticJobShrinksAndGrows) {
    const PoolTrace trace = trace_of({0, 3600, 7200}, {4, 2, 4});
    RunSpec spec = replay(trace, 7200 * kSecond);
    spec.min_nodes = 2;
    spec.start.framework = 60 * kSecond;
    spec.reshard = 30 * kSecond;
    spec.checkpoints.on_notice = 60 * kSecond;
    const RunResult r = run(spec, "spot_only");
    EXPECT_EQ(r.ending, Ending::finished);
    EXPECT_NEAR(r.time.useful / kSecond, 7200, 1e-6);
    EXPECT_NEAR(r.time.slower / kSecond, 1755, 1e-6);
    EXPECT_NEAR(r.time.lost / kSecond, 60, 1e-6);
    EXPECT_NEAR(r.time.checkpoint / kSecond, 60, 1e-6);
    EXPECT_NEAR(r.time.restart / kSecond, 180, 1e-6);
    EXPECT_NEAR(r.time.reshard / kSecond, 60, 1e-6);
    EXPECT_NEAR(r.time.wall() / kSecond, 9315, 1e-6);
    EXPECT_EQ(r.interruptions, 1);
    // Four nodes for the first hour, two for the second, four to the end.
    EXPECT_NEAR(r.spot_node_hours, (4 * 3600 + 2 * 3600 + 4 * 2115) / 3600.0, 1e-6);
}

// The same with a speed of 0.8 for two nodes, and no time between the notice and the loss.
TEST(EngineFleet, SpeedsOfSmallerSizesAreTheGivenOnes) {
    const PoolTrace trace = trace_of({0, 3600}, {4, 2});
    RunSpec spec = replay(trace, 7200 * kSecond);
    spec.min_nodes = 2;
    spec.speed = {0.5, 0.8, 0.9, 1};
    spec.rules.notice = Seconds{};
    spec.checkpoints.interval = 3600 * kSecond;
    // The save after 3600 s of steps costs nothing and is there when the nodes go.
    const RunResult r = run(spec, "spot_only");
    EXPECT_NEAR(r.time.wall() / kSecond, 3600 + 3600 / 0.8, 1e-6);
    EXPECT_NEAR(r.time.slower / kSecond, 3600 / 0.8 - 3600, 1e-6);
}

// Saves at 600 and 1210 s (10 s each), safe in storage after 600 s: at 1800 s only the first is.
// Peers have both: 1780 s of steps less 1200. If the gang dies whole their copy is gone too.
TEST(EngineFleet, PeersHelpUnlessTheGangDiesWhole) {
    const PoolTrace part = trace_of({0, 1800}, {4, 2});
    const PoolTrace whole = trace_of({0, 1800, 3000}, {4, 0, 4});
    RunSpec spec = replay(part, 4000 * kSecond);
    spec.min_nodes = 2;
    spec.rules.notice = Seconds{};
    spec.checkpoints.interval = 600 * kSecond;
    spec.checkpoints.blocking = 10 * kSecond;
    spec.checkpoints.persist = 600 * kSecond;
    spec.checkpoints.restore_s3 = 300 * kSecond;
    spec.checkpoints.restore_peer = 20 * kSecond;
    const RunResult stored = run(spec, "spot_only");
    EXPECT_NEAR(stored.time.lost / kSecond, 1180, 1e-6);
    EXPECT_NEAR(stored.time.restart / kSecond, 300, 1e-6);
    spec.checkpoints.restore_from = RestoreFrom::peer_memory;
    const RunResult peers = run(spec, "spot_only");
    EXPECT_NEAR(peers.time.lost / kSecond, 580, 1e-6);
    EXPECT_NEAR(peers.time.restart / kSecond, 20, 1e-6);
    spec.pools[0].trace = &whole;
    const RunResult gone = run(spec, "spot_only");
    EXPECT_NEAR(gone.time.lost / kSecond, 1180, 1e-6);
    EXPECT_NEAR(gone.time.restart / kSecond, 300, 1e-6);
}

// A job of fixed size lets the two survivors go, since they cannot run: their copy goes with them.
TEST(EngineFleet, APeersCopyIsLostWithTheNodeThatIsLetGo) {
    const PoolTrace trace = trace_of({0, 1800, 3000}, {4, 2, 4});
    RunSpec spec = replay(trace, 4000 * kSecond);
    spec.rules.notice = Seconds{};
    spec.checkpoints.interval = 600 * kSecond;
    spec.checkpoints.blocking = 10 * kSecond;
    spec.checkpoints.persist = 600 * kSecond;
    spec.checkpoints.restore_s3 = 300 * kSecond;
    spec.checkpoints.restore_from = RestoreFrom::peer_memory;
    const RunResult r = run(spec, "spot_only");
    EXPECT_NEAR(r.time.lost / kSecond, 1180, 1e-6);
    EXPECT_NEAR(r.time.restart / kSecond, 300, 1e-6);
    EXPECT_NEAR(r.time.waiting / kSecond, 1200, 1e-6);
}

/// Two nodes in a Capacity Block of 2 h at $10/h, and as many on demand at $20/h as are wanted.
RunSpec with_block(Seconds work) {
    RunSpec spec = run_of(work, 2);
    Pool block;
    block.name = "block";
    block.purchase = Purchase::capacity_block;
    block.price = 10 * kUsdPerHour;
    block.limit = 2;
    block.window = 2 * kHour;
    spec.pools = {block, on_demand_pool(20)};
    return spec;
}

TEST(EngineFleet, ACapacityBlockIsPaidInFullHoweverLittleIsUsed) {
    const RunResult r = run(with_block(1 * kHour), "share:0");
    EXPECT_NEAR(r.money.reserved / kUsd, 2 * 2 * 10, 1e-9);
    EXPECT_NEAR(r.money.total() / kUsd, 40, 1e-9);
    EXPECT_NEAR(r.reserved_node_hours, 2, 1e-9);
}

// The nodes go 30 minutes before the end, at 5400 s; known 10 minutes before. On-demand nodes boot
// in 300 s from 4800 s on; at 5100 s the job saves (50 s) and moves (restore 40 s): nothing is
// lost. On demand from 4800 s to the end at 7200 + 50 + 40 + 50 (last save) + 300 (first boot).
TEST(EngineFleet, ABlockEndsEarlyAndTheJobMovesBeforeThat) {
    RunSpec spec = with_block(7200 * kSecond);
    spec.start.boot = 300 * kSecond;
    spec.checkpoints.blocking = 50 * kSecond;
    spec.checkpoints.restore_s3 = 40 * kSecond;
    const RunResult r = run(spec, "share:0");
    EXPECT_EQ(r.interruptions, 0);
    EXPECT_NEAR(r.time.lost / kSecond, 0, 1e-6);
    EXPECT_NEAR(r.time.checkpoint / kSecond, 100, 1e-6);
    EXPECT_NEAR(r.time.wall() / kSecond, 7640, 1e-6);
    EXPECT_NEAR(r.money.on_demand / kUsd, 2 * 20 * (7640 - 4800) / 3600.0, 1e-6);
    spec.rules.block_ends_early = Seconds{};
    // Without that rule the block lasts to 7200 s, and the move is half an hour later.
    EXPECT_NEAR(run(spec, "share:0").money.on_demand / kUsd, 2 * 20 * (7640 - 6600) / 3600.0, 1e-6);
}

// Every second launch is refused and tried again after 600 s: refusals are geometric with mean 1.
TEST(EngineFleet, ARefusedLaunchWaits) {
    RunSpec spec = run_of(1 * kHour, 2);
    spec.rules.on_demand_refused = 0.5;
    spec.pools = {on_demand_pool(20)};
    SimulateOptions options;
    options.runs = 20000;
    const auto s = simulate(spec, "on_demand", options);
    ASSERT_TRUE(s);
    // Standard deviation of one run 849 s, of the mean 6 s.
    EXPECT_NEAR(s->mean_time.waiting / kSecond, 600, 25);
}

// From spot in region 0 to spot in region 1 and back: the checkpoint moves twice, at $7 each.
TEST(EngineFleet, MovesBetweenRegionsCostTransfer) {
    const PoolTrace here = trace_of({0, 3600, 7200}, {4, 0, 4});
    const PoolTrace there = trace_of({0, 3600, 7200}, {0, 4, 0});
    RunSpec spec = replay(here, 3 * kHour);
    spec.checkpoints.interval = 600 * kSecond;
    spec.pools.push_back(spec.pools[0]);
    spec.pools[1].trace = &there;
    spec.pools[1].region = 1;
    for (Pool& pool : spec.pools) pool.move_cost = 7 * kUsd;
    const RunResult r = run(spec, "spot_only");
    EXPECT_EQ(r.ending, Ending::finished);
    EXPECT_NEAR(r.money.transfer / kUsd, 14, 1e-9);
}

// A failed node of a fixed size is replaced after 10 minutes and boots for 5: the job waits.
// Poisson with 0.1 per hour for 100 h of work: every failure costs 15 min of restart on average.
TEST(EngineFleet, AFailedNodeIsReplacedAfterItsTime) {
    RunSpec spec = run_of(100 * kHour, 2);
    spec.start.boot = 5 * kMinute;
    spec.node_replacement = 10 * kMinute;
    spec.checkpoints.interval = 1 * kSecond;
    spec.failures_per_node_hour = 0.001;
    spec.pools = {on_demand_pool(20)};
    SimulateOptions options;
    options.runs = 20000;
    const auto s = simulate(spec, "on_demand", options);
    ASSERT_TRUE(s);
    // Beside the first boot; failures while waiting are rare (0.0005).
    EXPECT_NEAR((s->mean_time.restart / kMinute - 5) / s->mean_failures, 15, 0.15);
}

}  // namespace
}  // namespace trainyard::spot

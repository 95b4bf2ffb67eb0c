#include "collective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "test_shapes.hpp"
#include "trainyard/perf/bus_bandwidth.hpp"

namespace trainyard::perf {
namespace {

double seconds(Seconds s) { return s / kSecond; }

/// 8 accelerators a node, 100 GB/s inside per accelerator, 400 GB/s per node outside.
struct Fixture {
    Constants constants = test::ideal_constants();
    Network network() const {
        Network n;
        n.intra = 100 * kGBPerSecond;
        n.inter_node = 400 * kGBPerSecond;
        n.per_node = 8;
        n.constants = &constants.global;
        return n;
    }
};

TEST(Collective, GroupsFollowTheirStride) {
    // 16 ranks one apart on nodes of 8: two nodes, 8 on each. Eight apart: one on each of 16 nodes.
    EXPECT_EQ(make_group(16, 1, 8).per_node, 8);
    EXPECT_EQ(make_group(16, 1, 8).nodes(), 2);
    EXPECT_EQ(make_group(16, 8, 8).per_node, 1);
    EXPECT_EQ(make_group(16, 8, 8).nodes(), 16);
    EXPECT_EQ(make_group(2, 4, 8).nodes(), 1);
    EXPECT_EQ(make_group(4, 64, 8).per_node, 1);
}

TEST(Collective, RingOfTwoByHand) {
    Fixture f;
    f.constants.global.intra_latency_us = 10;
    f.constants.global.collective_base_us = 5;
    // Two ranks of one node exchange halves twice: 2 * (1 hop * 10 us + 0.5 GB / 100 GB/s) + 5 us.
    EXPECT_NEAR(seconds(all_reduce(f.network(), {2, 2}, 1 * kGB)), 2 * (10e-6 + 5e-3) + 5e-6,
                1e-12);
    // An all-gather is half of it.
    EXPECT_NEAR(seconds(all_gather(f.network(), {2, 2}, 1 * kGB)), 10e-6 + 5e-3 + 5e-6, 1e-12);
}

TEST(Collective, RingMovesTwiceTheRestOfTheTensor) {
    const Fixture f;
    for (const int n : {2, 4, 8}) {
        EXPECT_NEAR(seconds(all_reduce(f.network(), {n, n}, 8 * kGB)), 2.0 * (n - 1) / n * 8 / 100,
                    1e-12);
        EXPECT_NEAR(seconds(reduce_scatter(f.network(), {n, n}, 8 * kGB)), (n - 1.0) / n * 8 / 100,
                    1e-12);
    }
}

TEST(Collective, NothingToDoTakesNoTime) {
    Fixture f;
    f.constants.global.collective_base_us = 5;
    EXPECT_EQ(seconds(all_reduce(f.network(), {1, 1}, 1 * kGB)), 0);
    EXPECT_EQ(seconds(all_gather(f.network(), {8, 8}, Bytes{})), 0);
    EXPECT_EQ(seconds(all_to_all(f.network(), {1, 1}, {100, 1 * kGB, 2})), 0);
}

TEST(Collective, MessageAtTheConstantGetsHalfTheBandwidth) {
    Fixture f;
    f.constants.global.half_message_intra_mb = 4;
    // Eight ranks hold 4 MB pieces of a 32 MB tensor: half the rate.
    EXPECT_NEAR(seconds(all_gather(f.network(), {8, 8}, 32e6 * kByte)), 7 * 4e6 / 50e9, 1e-12);
}

TEST(Collective, AGroupGetsItsShareOfTheNetwork) {
    const Fixture f;
    // All 8 accelerators of each node in the ring: 400 GB/s of network, but 100 GB/s inside rules.
    EXPECT_NEAR(seconds(all_gather(f.network(), {16, 8}, 16 * kGB)), 15.0 / 100, 1e-9);
    // One rank per node: seven other groups send at the same time, so 400 / 8 = 50 GB/s.
    EXPECT_NEAR(seconds(all_gather(f.network(), {16, 1}, 16 * kGB)), 15.0 / 50, 1e-9);
}

TEST(Collective, TreeWinsSmallMessagesOnManyNodes) {
    Fixture f;
    f.constants.global.inter_latency_us = 10;
    // A ring of 512 nodes passes 2 * 511 hops; a tree 2 * log2(512) = 18, of 1.5 times the latency.
    const double tree = 2 * 9 * 10e-6 * 1.5;
    const double time = seconds(all_reduce(f.network(), {512, 1}, 1000 * kByte));
    EXPECT_NEAR(time, tree + 2 * 1000 / (0.85 * 50e9), 1e-9);
    // At 10 GB the ring wins: the tree's bandwidth is 0.85 of the link.
    EXPECT_NEAR(seconds(all_reduce(f.network(), {512, 1}, 10 * kGB)),
                2 * (511 * 10e-6 + 511.0 / 512 * 10 / 50), 1e-9);
}

TEST(Collective, ExpertTrafficByHand) {
    const Fixture f;
    // 8 ranks of one node: each row goes to 2 experts, 7 of 8 of them elsewhere.
    EXPECT_NEAR(seconds(all_to_all(f.network(), {8, 8}, {1000, 10000 * kByte, 2})),
                1000 * 1e4 * 2 * 7 / 8 / 100e9, 1e-12);
    // 4 nodes of 8: of 8 copies 6 leave the node, over 400 / 8 = 50 GB/s each; inside is faster.
    const double all = 1000 * 1e4 * 8 * 3 / 4 / 50e9;
    EXPECT_NEAR(seconds(all_to_all(f.network(), {32, 8}, {1000, 10000 * kByte, 8})), all, 1e-9);
    // Sent once per node: 3 other nodes, each needed with probability 1 - (3/4)^8 = 0.9.
    const double once = 1000 * 1e4 * 3 * (1 - std::pow(0.75, 8)) / 50e9;
    EXPECT_NEAR(seconds(all_to_all(f.network(), {32, 8}, {1000, 10000 * kByte, 8, true})), once,
                1e-9);
    // In one node 8 copies fall on 8 (1 - (7/8)^8) = 5.25 distinct ranks, 7 of 8 of them elsewhere.
    const double distinct = 8 * (1 - std::pow(7.0 / 8, 8));
    EXPECT_NEAR(seconds(all_to_all(f.network(), {8, 8}, {1000, 10000 * kByte, 8, true})),
                1000 * 1e4 * distinct * 7 / 8 / 100e9, 1e-12);
}

TEST(Collective, PointToPointSharesTheNode) {
    Fixture f;
    f.constants.global.p2p_fraction = 0.5;
    EXPECT_NEAR(seconds(point_to_point(f.network(), Hop::inside_node, 8, 1 * kGB)), 1 / 50.0,
                1e-12);
    EXPECT_NEAR(seconds(point_to_point(f.network(), Hop::across_nodes, 8, 1 * kGB)), 1 / 25.0,
                1e-12);
}

TEST(Collective, FabricsInOrder) {
    const Constants& c = default_constants();
    const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    ASSERT_TRUE(catalog);
    Cluster cluster;
    cluster.accelerator = catalog->accelerator("A100-40");
    cluster.accelerators = 64;
    cluster.accelerators_per_node = 8;
    cluster.intra_bandwidth = 300 * kGBPerSecond;
    cluster.inter.per_node = 50 * kGBPerSecond;
    cluster.inter.fabric = Fabric::efa;
    const Seconds efa = all_reduce(make_network(cluster, c), {64, 8}, 1 * kGB);
    cluster.inter.fabric = Fabric::tcp;
    const Seconds tcp = all_reduce(make_network(cluster, c), {64, 8}, 1 * kGB);
    EXPECT_LT(efa, tcp);
    // Above 16 nodes RDMA loses a little of its rate, never gains.
    cluster.inter.fabric = Fabric::efa;
    const BytesPerSecond at_16 = [&] {
        cluster.accelerators = 128;
        return make_network(cluster, c).inter_node;
    }();
    cluster.accelerators = 8192;
    EXPECT_LT(make_network(cluster, c).inter_node, at_16);
}

// The published series of four B200 nodes (8 x 400 Gbit/s EFA each), all-reduce bus bandwidth:
// 382 GB/s at 16 GiB, 64.4 at 16 MiB, 5.4 at 1 MiB (stas00/ml-engineering, network/benchmarks,
// 2026). The model's own: time rises with size, bus bandwidth rises to the achieved link rate, and
// the small end is far below the large one.
TEST(Collective, BusBandwidthRisesToTheLinkWithSize) {
    const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    ASSERT_TRUE(catalog);
    const auto cluster = cluster_of(*catalog, *catalog->instance("p6-b200.48xlarge"), 4);
    ASSERT_TRUE(cluster);
    const Network n = make_network(*cluster, default_constants());
    const auto bus = [&n](double bytes) {
        return bytes / seconds(all_reduce(n, {32, 8}, bytes * kByte)) * 2 * 31 / 32 / 1e9;
    };
    double last_time = 0, last_bus = 0;
    for (double bytes = 32768; bytes <= 16.0 * (1 << 30); bytes *= 2) {
        const double time = seconds(all_reduce(n, {32, 8}, bytes * kByte));
        EXPECT_GT(time, last_time) << bytes;
        EXPECT_GE(bus(bytes), 0.999 * last_bus) << bytes;
        last_time = time;
        last_bus = bus(bytes);
    }
    const double limit = n.inter_node / kGBPerSecond;
    EXPECT_GT(bus(16.0 * (1 << 30)), 0.95 * limit);
    EXPECT_LE(bus(16.0 * (1 << 30)), limit);
    EXPECT_LT(bus(1 << 20), bus(16.0 * (1 << 30)) / 10);
    // Measured 382: within a quarter.
    EXPECT_NEAR(bus(16.0 * (1 << 30)) / 382, 1, 0.25);
    EXPECT_NEAR(all_reduce_bus_bandwidth(*cluster, 16 * kGiB) / (kGBPerSecond * bus(1ULL << 34U)),
                1, 1e-12);
}

TEST(Collective, OneDeviceHasNoBusBandwidth) {
    const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    ASSERT_TRUE(catalog);
    const auto cluster = cluster_of(*catalog, *catalog->instance("g5.xlarge"), 1);
    ASSERT_TRUE(cluster);
    EXPECT_EQ(all_reduce_bus_bandwidth(*cluster, kGiB), BytesPerSecond{});
}

}  // namespace
}  // namespace trainyard::perf

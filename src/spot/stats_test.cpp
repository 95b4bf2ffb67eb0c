#include "trainyard/spot/stats.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::spot {
namespace {

/// Steps of 15 minutes each.
PoolTrace trace_of(const std::vector<int>& nodes, int capacity, const std::string& file) {
    PoolTrace t;
    t.pool = file;
    t.file = file;
    t.capacity = capacity;
    t.tick = 900 * kSecond;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i > 0 && nodes[i] == nodes[i - 1]) continue;
        t.start.push_back(900.0 * static_cast<double>(i));
        t.nodes.push_back(nodes[i]);
    }
    t.end = static_cast<double>(nodes.size()) * 900 * kSecond;
    return t;
}

// Up: 4, 2, 1 and 3 ticks (the last cut), down: 2, 1 and 3 ticks; 16 ticks = 4 h.
TEST(PoolStats, ByHand) {
    const PoolStats s =
        pool_stats(trace_of({1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1}, 1, "a"), 0);
    EXPECT_NEAR(s.availability, 10.0 / 16, 1e-12);
    EXPECT_NEAR(s.gang_share, 10.0 / 16, 1e-12);
    EXPECT_EQ(s.interruptions, 3);
    EXPECT_EQ(s.up.count, 4);
    EXPECT_NEAR(s.up.mean / kHour, 2.5 / 4, 1e-12);
    EXPECT_NEAR(s.up.median / kHour, 2.5 / 4, 1e-12);  // between 2 and 3 ticks
    EXPECT_NEAR(s.up.p90 / kHour, 3.7 / 4, 1e-12);     // 0.7 of the way from 3 to 4 ticks
    EXPECT_NEAR(s.up.longest / kHour, 1, 1e-12);
    EXPECT_NEAR(s.down.mean / kHour, 0.5, 1e-12);
    EXPECT_NEAR(*s.lost_per_node_day, 3 / (2.5 / 24), 1e-9);
    EXPECT_FALSE(s.weibull);
    EXPECT_FALSE(s.price);
}

TEST(PoolStats, NodesOfAGang) {
    const PoolStats s = pool_stats(trace_of({4, 3, 4, 0, 4, 1, 0, 0}, 4, "a"), 0);
    EXPECT_NEAR(s.availability, 16.0 / 32, 1e-12);
    EXPECT_NEAR(s.gang_share, 3.0 / 8, 1e-12);
    EXPECT_NEAR(s.none_share, 3.0 / 8, 1e-12);
    EXPECT_EQ(s.drops.count, 4);  // by 1, 4, 3 and 1
    EXPECT_EQ(s.drops.nodes, 9);
    EXPECT_EQ(s.drops.to_zero, 2);
    EXPECT_EQ(s.drops.nodes_in_bursts, 7);
    EXPECT_NEAR(pool_stats(trace_of({4, 3, 4, 0}, 4, "a"), 3).gang_share, 0.75, 1e-12);
}

TEST(PoolStats, APoolThatIsNeverUp) {
    const PoolStats s = pool_stats(trace_of({0, 0}, 1, "a"), 0);
    EXPECT_EQ(s.up.count, 0);
    EXPECT_FALSE(s.lost_per_node_day);
    EXPECT_EQ(s.none_share, 1);
}

// Lives of 0.5 h, 1.5 h, 3 h (cut) and 30 h. In the first hour 1 + 0.5 + 1 + 1 h are lived in the
// bands up to 1 h; from 1 to 2 h 0.5 + 1 + 1 h, with one end.
TEST(SurvivalByAge, ByHand) {
    const auto life = [](double h, bool ended) { return Life{{}, h * kHour, ended, false}; };
    const auto bands =
        survival_by_age({life(0.5, true), life(1.5, true), life(3, false), life(30, true)});
    const AgeBand& half = bands.at(1);
    EXPECT_EQ(half.from / kHour, 0.25);
    EXPECT_EQ(half.ended, 1);  // at 0.5 h, the end of the band
    const AgeBand& one = bands.at(3);
    EXPECT_EQ(one.from / kHour, 1);
    EXPECT_EQ(one.at_risk, 3);
    EXPECT_EQ(one.ended, 1);
    EXPECT_NEAR(one.survival, 0.75, 1e-12);
    EXPECT_NEAR(*one.hazard_per_hour, 1 / 2.5, 1e-12);
    const AgeBand& last = bands.back();
    EXPECT_TRUE(std::isinf(last.to.base()));
    EXPECT_NEAR(last.survival, 0.5, 1e-12);
    EXPECT_NEAR(*last.hazard_per_hour, 1 / 6.0, 1e-12);
}

// 1 $/h for 1 h, 3 $/h for 3 h: mean 2.5, variance (1.5^2 + 3 * 0.5^2) / 4 = 0.75.
TEST(PriceStats, WeighsByTime) {
    const PriceStats p = price_stats({0, 3600}, {1, 3}, 4 * kHour);
    EXPECT_NEAR(p.mean, 2.5, 1e-12);
    EXPECT_NEAR(p.deviation, std::sqrt(0.75), 1e-12);
    EXPECT_EQ(p.low, 1);
    EXPECT_EQ(p.high, 3);
    EXPECT_EQ(p.changes, 1);
    EXPECT_EQ(p.between_changes / kHour, 4);
    EXPECT_EQ(price_stats({0}, {2}, {}).mean, 2);
}

// a: 1 1 0 0, b: 1 0 0 0 (and then longer): means 1/2 and 1/4, covariance 1/4 - 1/8 = 1/8,
// deviations 1/2 and sqrt(3)/4.
TEST(ZoneGroups, ByHand) {
    const auto groups =
        zone_groups({trace_of({1, 1, 0, 0}, 1, "f/a"), trace_of({1, 0, 0, 0, 1}, 1, "f/b"),
                     trace_of({1, 1, 1}, 1, "g/c")},
                    0);
    ASSERT_EQ(groups.size(), 1U);  // c stands alone in its folder
    EXPECT_EQ(groups[0].length / kSecond, 3600);
    EXPECT_NEAR(groups[0].correlation[0][1], 0.125 / (0.5 * std::sqrt(3) / 4), 1e-12);
    EXPECT_EQ(groups[0].correlation[0][1], groups[0].correlation[1][0]);
    EXPECT_NEAR(groups[0].any_up, 0.5, 1e-12);
    EXPECT_NEAR(groups[0].all_up, 0.25, 1e-12);
    EXPECT_NEAR(groups[0].any_up_if_independent, 1 - 0.5 * 0.75, 1e-12);
}

TEST(ZoneGroups, AConstantPoolHasNoCorrelation) {
    const auto groups = zone_groups({trace_of({1, 1}, 1, "f/a"), trace_of({1, 0}, 1, "f/b")}, 0);
    EXPECT_TRUE(std::isnan(groups.at(0).correlation[0][1]));
}

}  // namespace
}  // namespace trainyard::spot

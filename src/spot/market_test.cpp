// The pools alone: laws of up and down times, notices, recommendations, hours of the day.

#include "market.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "test_runs.hpp"

namespace trainyard::spot {
namespace {

RunSpec spec_with(Pool pool) {
    RunSpec spec = run_of(1 * kHour, 8);
    spec.pools = {std::move(pool)};
    return spec;
}

struct Seen {
    double drops = 0, up = 0, down = 0, notices = 0, flagged = 0, whole = 0, lost = 0;
};

/// `cycles` drops with eight nodes held whenever there is capacity.
Seen watch(const RunSpec& spec, int cycles) {
    Market market(spec.pools[0], spec);
    market.begin(1, 0, 0, 0, 0, true);
    Seen seen;
    double since = 0;
    bool notice = false;
    while (seen.drops < cycles) {
        const double now = market.next();
        const bool flag = market.rebalance();
        const MarketEvent event = market.step(8);
        if (event == MarketEvent::notice) {
            notice = true;
            EXPECT_LE(market.loss_at() - now, 120 + 1e-6);
        } else if (event == MarketEvent::drop) {
            seen.drops += 1;
            seen.up += now - since;
            seen.notices += notice ? 1 : 0;
            seen.flagged += flag ? 1 : 0;
            seen.whole += market.available() == 0 ? 1 : 0;
            if (market.available() > 0) seen.lost += 8 - market.available();
            notice = false;
            since = now;
        } else if (event == MarketEvent::rise) {
            seen.down += now - since;
            since = now;
        }
    }
    return seen;
}

TEST(Market, TimesHaveTheirMeans) {
    // Shape 1/2: the mean is twice the scale; the standard deviation sqrt(5) times the mean.
    const Seen seen = watch(spec_with(spot_pool(1, {1 * kHour, 0.5}, {2 * kHour, 1})), 100'000);
    EXPECT_NEAR(seen.up / seen.drops / 3600, 2, 5 * 2 * 2.24 / 316);
    EXPECT_NEAR(seen.down / seen.drops / 3600, 2, 5 * 2.0 / 316);
    EXPECT_EQ(seen.notices, seen.drops);
    EXPECT_EQ(seen.whole, seen.drops);
}

TEST(Market, NoticesMissAndGangsDieInPart) {
    RunSpec spec = spec_with(spot_pool(1, {10 * kHour, 1}, {2 * kHour, 1}));
    spec.rules.notice_missing = 0.3;
    spec.pools[0].process->gang_share = 0.7;
    spec.pools[0].process->burst = 1.5;
    const Seen seen = watch(spec, 40'000);
    EXPECT_NEAR(seen.notices / seen.drops, 0.7, 0.012);
    // A burst of 8 or more is rarer than 1/3^7.
    EXPECT_NEAR(seen.whole / seen.drops, 0.7, 0.012);
    EXPECT_NEAR(seen.lost / (seen.drops - seen.whole), 1.5, 0.03);
}

// Recall 0.6; false ones at 0.6 (1/0.3 - 1) = 1.4 per mean up time. With exponential up times none
// comes with probability 0.4 / (1 + 1.4), so 5 of 6 drops find the flag up.
TEST(Market, RecommendationsHaveTheirPrecisionAndRecall) {
    const Seen seen = watch(spec_with(spot_pool(1, {50 * kHour, 1}, {1 * kHour, 1})), 20'000);
    EXPECT_NEAR(seen.flagged / seen.drops, 1 - 0.4 / 2.4, 0.014);
}

// Hazard only from 12 to 18 h (UTC): drops fall into these hours, and the mean rate over the day is
// a quarter of 4 times the base.
TEST(Market, DropsFollowTheHourOfTheDay) {
    RunSpec spec = spec_with(spot_pool(1, {20 * kHour, 1}, {1e-3 * kHour, 1}));
    spec.pools[0].process->hour_factor.fill(0);
    for (std::size_t h = 12; h < 18; ++h) spec.pools[0].process->hour_factor[h] = 4;
    Market market(spec.pools[0], spec);
    market.begin(3, 0, 0, 0, 5, false);  // it starts at 5 h
    int drops = 0;
    double now = 0;
    while (drops < 20'000) {
        now = market.next();
        if (market.step(8) != MarketEvent::drop) continue;
        ++drops;
        const double hour = std::fmod(5 + now / 3600, 24);
        ASSERT_GE(hour, 12);
        ASSERT_LE(hour, 18);
    }
    EXPECT_NEAR(now / 3600 / drops, 20, 0.8);
}

TEST(Market, ReplayWrapsWithItsPrices) {
    PoolTrace trace;
    trace.capacity = 8;
    trace.start = {0, 600, 1200};
    trace.nodes = {8, 0, 4};
    trace.end = 1800 * kSecond;
    trace.price_start = {0, 900};
    trace.price = {3.6, 7.2};  // $0.001 and $0.002 per second
    Pool pool;
    pool.trace = &trace;
    RunSpec spec = spec_with(pool);
    spec.rules.notice = Seconds{};
    Market market(spec.pools[0], spec);
    market.begin(1, 0, 0, 700, 0, false);
    EXPECT_EQ(market.available(), 0);
    std::vector<int> seen;
    for (double at = 500; at <= 3600; at += 600) {
        while (market.next() <= at) market.step(0);
        seen.push_back(market.available());
    }
    // From 700 s on: 4 at 500 s, then 8 (wrapped, from 1100 s), 0, 4, 8, 0.
    EXPECT_EQ(seen, (std::vector<int>{4, 8, 0, 4, 8, 0}));
    // Two turns: each 900 s at $0.001 and 900 s at $0.002.
    while (market.next() <= 3600) market.step(0);
    EXPECT_NEAR(market.paid(3600), 2 * 2.7, 1e-9);
}

}  // namespace
}  // namespace trainyard::spot

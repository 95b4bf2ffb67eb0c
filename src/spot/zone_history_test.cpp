#include "zone_history.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::spot {
namespace {

/// Lives of these lengths, an hour apart; ends with capacity back at age 0.
ZoneHistory after(std::initializer_list<double> lives) {
    ZoneHistory zone;
    zone.begin();
    double now = 0;
    for (const double life : lives) {
        zone.see(now, true, 0);
        now += life;
        zone.see(now, false, 0);
        now += 1;
    }
    zone.see(now, true, 0);
    return zone;
}

TEST(ZoneHistory, WithoutLossesThereIsNoEnd) {
    ZoneHistory zone;
    zone.begin();
    zone.see(0, true, -1);
    EXPECT_GT(zone.expected_life(), 1e6);
}

// Two lives of 1 and 3 h: steps 1/2 at 1 h and 1 at 3 h, then 1 per tick of 1/6 h.
// 1 + e^{-1/2} 2 + e^{-3/2} (1/6) / (1 - e^{-1}).
TEST(ZoneHistory, ExpectedLifeIsTheIntegralOfTheSurvival) {
    const double expected = 1 + std::exp(-0.5) * 2 + std::exp(-1.5) / 6 / (1 - std::exp(-1.0));
    EXPECT_NEAR(after({3, 1}).expected_life(), expected, 1e-9);
    EXPECT_NEAR(after({1, 3}).expected_life(), expected, 1e-9);
}

// The same at an age of 2 h: only the step at 3 h is left.
TEST(ZoneHistory, AnOlderLifeForgetsShortOnes) {
    ZoneHistory zone = after({1, 3});
    zone.see(8, true, -1);  // capacity came back at 6 h
    EXPECT_NEAR(zone.expected_life(), 1 + std::exp(-1.0) / 6 / (1 - std::exp(-1.0)), 1e-9);
}

TEST(ZoneHistory, LossesCloseTogetherShortenTheExpectation) {
    const double calm = after({2, 2, 2, 2, 2, 2}).expected_life();
    const double rough = after({2, 2, 2, 2, 0.1, 0.1}).expected_life();
    EXPECT_LT(rough, calm);
}

}  // namespace
}  // namespace trainyard::spot

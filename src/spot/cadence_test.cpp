#include "trainyard/spot/cadence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::spot {
namespace {

// sqrt(2 * 5 min * 1440 min) = 120 min.
TEST(Cadence, YoungIsTheSquareRoot) {
    EXPECT_NEAR(young_interval(5 * kMinute, 24 * kHour) / kMinute, 120, 1e-9);
}

// Daly 2006, figures 3 to 5 (R = 10 min, d = 5 min, 500 h of work): 117, 57 and 9.1 minutes.
TEST(Cadence, DalyGivesThePublishedIntervals) {
    EXPECT_NEAR(daly_interval(5 * kMinute, 24 * kHour) / kMinute, 117, 0.5);
    EXPECT_NEAR(daly_interval(5 * kMinute, 6 * kHour) / kMinute, 57, 0.5);
    EXPECT_NEAR(daly_interval(5 * kMinute, 15 * kMinute) / kMinute, 9.1, 0.05);
}

TEST(Cadence, DalyEndsAtTheMeanWhereASaveTakesTwiceAsLong) {
    EXPECT_EQ(daly_interval(30 * kMinute, 15 * kMinute) / kMinute, 15);
}

// At the minimum the derivative is zero: t = M (1 - e^{-(t+d)/M}).
TEST(Cadence, TheBestIntervalIsWhereTheDerivativeIsZero) {
    for (const double hours : {24.0, 6.0, 0.25}) {
        const Seconds m = hours * kHour;
        const Seconds best = best_interval(5 * kMinute, 10 * kMinute, m);
        EXPECT_NEAR(best / kMinute, m * -std::expm1(-(best + 5 * kMinute) / m) / kMinute,
                    1e-3 * (best / kMinute));
        for (const double other : {0.9, 1.1}) {
            EXPECT_LT(daly_wall_time(500 * kHour, best, 5 * kMinute, 10 * kMinute, m),
                      daly_wall_time(500 * kHour, other * best, 5 * kMinute, 10 * kMinute, m));
        }
    }
}

// d, R -> small against M: M e^{R/M} ((t + d)/M) T/t = T (1 + d/t).
TEST(Cadence, WallTimeWithoutInterruptionsIsWorkAndSaves) {
    const Seconds wall =
        daly_wall_time(100 * kHour, 1 * kHour, 6 * kMinute, 10 * kMinute, 1e9 * kHour);
    EXPECT_NEAR(wall / kHour, 110, 1e-4);
}

// Weibull with shape 1/2, scale s: hazard 1/(2 sqrt(s t)), so M(age) = 2 sqrt(s t). s = 1 h, age
// 4 h: M = 4 h; Young with d = 30 s: sqrt(2 * 30 * 14400) = 929.5 s. At age 1 h M is half of it.
TEST(Cadence, OlderNodesSaveLessOften) {
    const Weibull life{1 * kHour, 0.5};
    const double old = interval_at_age(30 * kSecond, life, 4 * kHour) / kSecond;
    EXPECT_NEAR(old, std::sqrt(2 * 30 * 14400.0), 1e-6);
    EXPECT_NEAR(old / (interval_at_age(30 * kSecond, life, 1 * kHour) / kSecond), std::sqrt(2.0),
                1e-9);
}

}  // namespace
}  // namespace trainyard::spot

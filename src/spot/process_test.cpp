#include "trainyard/spot/process.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::spot {
namespace {

TEST(Weibull, ShapeOneIsExponential) {
    const Weibull life{2 * kHour, 1};
    EXPECT_NEAR(life.mean() / kHour, 2, 1e-12);
    EXPECT_NEAR(life.hazard(5 * kHour) * kHour.base(), 0.5, 1e-12);
    EXPECT_NEAR(life.survival(2 * kHour), std::exp(-1.0), 1e-12);
}

// shape 1/2: the mean is scale * Gamma(3) = 2 scale; S(4 scale) = e^-2; the hazard at age t is
// 1 / (2 sqrt(scale t)).
TEST(Weibull, ShapeOneHalfHasAKnownForm) {
    const Weibull life{1 * kHour, 0.5};
    EXPECT_NEAR(life.mean() / kHour, 2, 1e-12);
    EXPECT_NEAR(life.survival(4 * kHour), std::exp(-2.0), 1e-12);
    EXPECT_NEAR(life.hazard(4 * kHour) * 3600, 0.25, 1e-12);
    EXPECT_GT(life.hazard(1 * kHour), life.hazard(2 * kHour));
}

TEST(Weibull, NobodyDiesBeforeAgeZero) {
    EXPECT_EQ((Weibull{1 * kHour, 0.6}).survival(Seconds{}), 1);
}

}  // namespace
}  // namespace trainyard::spot

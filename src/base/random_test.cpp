#include "trainyard/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

TEST(Random, SameSeedAndRunGiveTheSameStream) {
    Random a(7, 3);
    Random b(7, 3);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Random, AnotherRunOrSeedGivesAnotherStream) {
    EXPECT_NE(Random(7, 3).next(), Random(7, 4).next());
    EXPECT_NE(Random(7, 3).next(), Random(8, 3).next());
    // Seed and run are not interchangeable.
    EXPECT_NE(Random(3, 7).next(), Random(7, 3).next());
}

TEST(Random, UniformIsNeverZeroAndHasMeanOneHalf) {
    Random r(1, 0);
    double sum = 0;
    constexpr int kDraws = 100'000;
    for (int i = 0; i < kDraws; ++i) {
        const double u = r.uniform();
        ASSERT_GT(u, 0);
        ASSERT_LE(u, 1);
        sum += u;
    }
    // Standard error of the mean: sqrt(1/12/100000) = 0.0009; five of them.
    EXPECT_NEAR(sum / kDraws, 0.5, 0.0046);
}

TEST(Random, WeibullHasItsMean) {
    Random r(2, 0);
    double sum = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) sum += r.weibull(2.0, 0.5);
    // Mean = scale * Gamma(1 + 1/k) = 2 * Gamma(3) = 4; variance = 4 (Gamma(5) - Gamma(3)^2) = 80;
    // five standard errors = 5 sqrt(80/200000) = 0.1.
    EXPECT_NEAR(sum / kDraws, 4.0, 0.1);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
    Random r(3, 0);
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 100'000;
    for (int i = 0; i < kDraws; ++i) {
        const double x = r.normal();
        sum += x;
        squares += x * x;
    }
    EXPECT_NEAR(sum / kDraws, 0.0, 0.016);      // five standard errors: 5 / sqrt(100000)
    EXPECT_NEAR(squares / kDraws, 1.0, 0.023);  // variance of x^2 is 2: 5 sqrt(2/100000)
}

TEST(Random, BelowStaysBelowAndReachesEveryValue) {
    Random r(4, 0);
    std::array<int, 5> seen{};
    for (int i = 0; i < 1000; ++i) ++seen.at(r.below(5));
    for (const int count : seen) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace trainyard

#include "histogram.hpp"

#include <gtest/gtest.h>

namespace trainyard::spot {
namespace {

// 1 … 10000 once each: the p-quantile is 10000 p, to the width of a bin, one part in 1024.
TEST(Histogram, QuantilesHaveThreeDigits) {
    Histogram h;
    for (int i = 1; i <= 10000; ++i) h.add(i);
    for (const double p : {0.1, 0.5, 0.9}) EXPECT_NEAR(h.quantile(p) / (10000 * p), 1, 1e-3);
    EXPECT_EQ(h.count(), 10000U);
}

TEST(Histogram, EqualValuesComeBackExactly) {
    Histogram h;
    for (int i = 0; i < 5; ++i) h.add(123.456);
    EXPECT_EQ(h.quantile(0.1), 123.456);
    EXPECT_EQ(h.quantile(0.9), 123.456);
    ASSERT_EQ(h.bins(40).size(), 1U);
}

TEST(Histogram, HalvesAddUpToTheWhole) {
    Histogram a;
    Histogram b;
    Histogram whole;
    for (int i = 1; i <= 1000; ++i) {
        (i % 3 == 0 ? a : b).add(0.37 * i);
        whole.add(0.37 * i);
    }
    a.add(b);
    EXPECT_EQ(a.quantile(0.25), whole.quantile(0.25));
    std::uint64_t count = 0;
    for (const HistogramBin& bin : a.bins(20)) count += bin.count;
    EXPECT_EQ(count, 1000U);
}

TEST(Histogram, TakesZeroAndTheVeryLarge) {
    Histogram h;
    h.add(0);
    h.add(1e30);
    EXPECT_NEAR(h.quantile(0.01), 0, 1e-6);
    EXPECT_EQ(h.count(), 2U);
}

}  // namespace
}  // namespace trainyard::spot

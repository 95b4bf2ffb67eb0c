#include <gtest/gtest.h>

#include "trainyard/plan/offer.hpp"

namespace trainyard::plan {
namespace {

// Daly's own figures (doi 10.1016/j.future.2004.11.016): a save of 5 min and M = 24 h, 6 h, 15 min
// give optima of 117, 57 and 9.1 min.
TEST(CheckpointInterval, ReproducesDaly) {
    const Seconds save = 5 * kMinute;
    EXPECT_NEAR(checkpoint_interval(save, 24 * kHour) / kMinute, 116.7, 0.1);
    EXPECT_NEAR(checkpoint_interval(save, 6 * kHour) / kMinute, 56.7, 0.1);
    EXPECT_NEAR(checkpoint_interval(save, 15 * kMinute) / kMinute, 9.14, 0.01);
}

TEST(CheckpointInterval, SlowSavesFallBackToTheFailureTime) {
    EXPECT_EQ(checkpoint_interval(3 * kHour, 1 * kHour), 1 * kHour);
}

TEST(CapacityBlock, DaysThenWeeksThenNothing) {
    const Assumptions& a = Assumptions::embedded();
    EXPECT_EQ(block_days(2 * kHour, a), 1);
    EXPECT_EQ(block_days(23.6 * kHour, a), 2);  // 23.6 h + the last half hour > 24 h
    EXPECT_EQ(block_days(13.9 * kDay, a), 14);
    EXPECT_EQ(block_days(14.1 * kDay, a), 21);
    EXPECT_EQ(block_days(181 * kDay, a), 182);
    EXPECT_FALSE(block_days(182 * kDay, a).has_value());
}

}  // namespace
}  // namespace trainyard::plan

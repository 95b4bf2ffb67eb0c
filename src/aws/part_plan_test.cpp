#include "trainyard/aws/part_plan.hpp"

#include <gtest/gtest.h>

#include "trainyard/base/random.hpp"

namespace trainyard::aws {
namespace {

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;
constexpr std::uint64_t kGibi = std::uint64_t{1} << 30U;

TEST(PartPlan, SmallObjectIsOnePart) {
    const auto plan = plan_parts(1, 8 * kMebi);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->parts, 1);
    EXPECT_EQ(plan->size(1), 1U);
}

TEST(PartPlan, EmptyObjectHasNoParts) {
    const auto plan = plan_parts(0, 8 * kMebi);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->parts, 0);
}

TEST(PartPlan, TwoHundredGibibytesStayUnderTenThousandParts) {
    // 200 GiB / 8 MiB = 25,600 parts: too many; 204,800 MiB / 10,000 = 20.48, rounded up 21 MiB.
    const auto plan = plan_parts(200 * kGibi, 8 * kMebi);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->part_size, 21 * kMebi);
    EXPECT_EQ(plan->parts, 9753);  // 204,800 / 21 = 9,752.4
}

TEST(PartPlan, LargestObjectAndOneByteMore) {
    const StoreLimits limits;
    const auto plan = plan_parts(limits.max_object, kMebi);
    ASSERT_TRUE(plan);
    EXPECT_LE(plan->parts, 10'000);
    EXPECT_FALSE(plan_parts(limits.max_object + 1, kMebi));
}

TEST(PartPlan, WantedBelowTheMinimumIsRaised) {
    const auto plan = plan_parts(100 * kMebi, 512);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->part_size, 5 * kMebi);
}

TEST(PartPlan, PartsCoverTheObjectExactlyForAnySize) {
    Random random(7, 0);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t size =
            random.next() % (StoreLimits{}.max_object + 1) >> random.below(40);
        StoreLimits limits;
        limits.max_parts = i % 3 == 0 ? 1000 : 10'000;
        const auto plan = plan_parts(size, random.next() % (6 * kGibi), limits);
        if (!plan) {
            EXPECT_GT(size, limits.max_part * static_cast<std::uint64_t>(limits.max_parts));
            continue;
        }
        ASSERT_LE(plan->parts, limits.max_parts);
        ASSERT_LE(plan->part_size, limits.max_part);
        if (plan->parts == 0) continue;
        if (plan->parts > 1) {
            ASSERT_GE(plan->part_size, limits.min_part);
        }
        ASSERT_EQ(plan->offset(plan->parts) + plan->size(plan->parts), size);
        ASSERT_GT(plan->size(plan->parts), 0U);
    }
}

}  // namespace
}  // namespace trainyard::aws

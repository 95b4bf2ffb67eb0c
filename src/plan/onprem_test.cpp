#include "trainyard/plan/onprem.hpp"

#include <gtest/gtest.h>

#include "test_job.hpp"

namespace trainyard::plan {
namespace {

workload::OnPrem quote() {
    workload::OnPrem q;
    q.capex = 320'000 * kUsd;
    q.kilowatt = 10.2;
    q.pue = 1.4;
    q.per_kilowatt_hour = 0.12 * kUsd;
    q.years = 3;
    q.staff = 0.25;
    q.staff_cost_per_year = 180'000 * kUsd;
    q.maintenance_per_year = 0.05;
    q.utilisation = {0.45, 0.9};
    q.reference = "p5.48xlarge";
    return q;
}

// 320,000 + 10.2 * 1.4 * 26,280 * 0.12 + 0.25 * 180,000 * 3 + 0.05 * 320,000 * 3
// = 320,000 + 45,033.41 + 135,000 + 48,000 = 548,033.41; over 26,280 h: $20.85 per hour.
TEST(OnPrem, CostOfThreeYears) {
    const auto a = compare_onprem(quote(), {"us-east-1"}, test::catalog());
    ASSERT_TRUE(a.has_value());
    EXPECT_NEAR(to_usd(a->total) / kUsd, 548'033.41, 0.5);
    EXPECT_NEAR(a->per_wall_hour / kUsd, 20.85, 0.01);
}

// Against $55.04 on demand owning breaks even at 20.85 / 55.04 = 37.9 %.
TEST(OnPrem, BreakEvenDependsOnTheCloudPrice) {
    const auto a = compare_onprem(quote(), {"us-east-1"}, test::catalog());
    ASSERT_TRUE(a.has_value());
    ASSERT_GE(a->break_even.size(), 3U);
    EXPECT_EQ(a->break_even.front().purchase, "on demand");
    EXPECT_NEAR(a->break_even.front().utilisation, 20.853 / 55.04, 0.002);
    EXPECT_GT(a->break_even.back().utilisation, 0.75);  // a 3-year commitment near $24 to $27
}

TEST(OnPrem, CloudAt45PercentAndBuyAt90ForFourYears) {
    const auto a = compare_onprem(quote(), {"us-east-1"}, test::catalog());
    ASSERT_TRUE(a.has_value());
    ASSERT_EQ(a->scenarios.size(), 3U);
    EXPECT_FALSE(a->scenarios[0].own);
    EXPECT_TRUE(a->scenarios[2].own);
    EXPECT_EQ(a->scenarios[2].years, 4);
    const std::string text = onprem_text(*a);
    EXPECT_NE(text.find("45 % for 3 years: cloud"), std::string::npos);
    EXPECT_NE(text.find("90 % for 4 years: buy"), std::string::npos);
}

TEST(OnPrem, UnknownReferenceIsBadInput) {
    workload::OnPrem q = quote();
    q.reference = "p9.48xlarge";
    EXPECT_FALSE(compare_onprem(q, {"us-east-1"}, test::catalog()).has_value());
}

}  // namespace
}  // namespace trainyard::plan

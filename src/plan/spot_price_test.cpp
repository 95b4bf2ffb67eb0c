#include "spot_price.hpp"

#include "test_job.hpp"
#include "trainyard/plan/offer.hpp"
#include "trainyard/plan/search.hpp"

namespace trainyard::plan {
namespace {

// data/catalog/prices.csv, p4d.24xlarge in us-east-1, snapshot of 2026: zones at 6.5323, 8.0087,
// 11.787 and 13.9933 $/h; the median is (8.0087 + 11.787) / 2 = 9.89785.
TEST(SpotPrice, IsTheMedianOfTheZones) {
    const auto p = spot_price(test::catalog(), "p4d.24xlarge", "us-east-1");
    ASSERT_TRUE(p.has_value());
    EXPECT_NEAR(p->expected.rate / kUsdPerHour, 9.89785, 1e-9);
    EXPECT_NEAR(p->low, 6.5323 / 9.89785, 1e-9);
    EXPECT_NEAR(p->high, 13.9933 / 9.89785, 1e-9);
}

TEST(SpotPrice, UnknownStaysUnknown) {
    EXPECT_FALSE(spot_price(test::catalog(), "p4d.24xlarge", "atlantis-1").has_value());
}

// A spot run is interrupted: restarts have their own line, and the start-up line is paid once.
TEST(SpotPrice, RestartsAreBilledApartFromTheStart) {
    Request r = test::request(test::model("llama-3.1-8b"), 100e9);
    const auto& a = Assumptions::embedded();
    const SearchResult found =
        search_type(r, test::catalog(), a, *test::catalog().instance("p4d.24xlarge"), {4});
    ASSERT_FALSE(found.candidates.empty());
    const Candidate& c = found.candidates.front();
    for (const Offer& o : offers(c, r, work_of(r.job, a), "EC2", test::catalog(), a)) {
        if (o.purchase != Purchase::spot) continue;
        EXPECT_GT(o.bill.of("restarts"), MicroUsd{});
        const Usd start = 4.0 * (o.rate * startup_time(c, o.needs, a));
        EXPECT_EQ(o.bill.of("start-up"), to_cents(start));
        return;
    }
    FAIL() << "no spot offer";
}

}  // namespace
}  // namespace trainyard::plan

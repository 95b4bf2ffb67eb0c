#include "found.hpp"

#include <gtest/gtest.h>

#include "test_job.hpp"

namespace trainyard::plan {
namespace {

Request with_machines(int nodes, UsdPerSecond rate) {
    Request r = test::request(test::model("llama-3.1-8b"), 300e9);
    r.have = Owned{"p4d.24xlarge", nodes, rate};
    return r;
}

Found found(const Request& r) { return find_options(r, test::catalog(), Assumptions::embedded()); }

TEST(Owned, OnlyTheMachinesThatThereAreMayBeChosen) {
    const Found f = found(with_machines(7, {}));
    ASSERT_NE(f.chosen(), nullptr);
    bool all = false;  // 7 is none of the sizes that a search for renting tries
    for (const Option& o : f.mine) {
        EXPECT_EQ(o.offer.purchase, Purchase::owned);
        EXPECT_EQ(o.candidate.instance->type, "p4d.24xlarge");
        EXPECT_LE(o.candidate.nodes, 7);
        all = all || o.candidate.nodes == 7;
    }
    EXPECT_TRUE(all);
}

TEST(Owned, CostOnlyTheirOwnRate) {
    const Found f = found(with_machines(4, 5 * kUsdPerHour));
    ASSERT_NE(f.chosen(), nullptr);
    const Option& o = *f.chosen();
    // nodes x hours x $5; what is billed is the wall clock of machines that wait for no capacity.
    const double hours = o.offer.wall.expected / kHour;
    EXPECT_NEAR(to_usd(o.offer.bill.total()) / kUsd, 5.0 * o.candidate.nodes * hours, 1);
    for (const BillItem& i : o.offer.bill.items) {
        EXPECT_TRUE(i.name == "compute" || i.name == "start-up" || i.name == "restarts") << i.name;
    }
}

TEST(Owned, RentingIsComparedInThePlan) {
    const Plan p = *make_plan(with_machines(4, {}), test::catalog(), Assumptions::embedded());
    ASSERT_TRUE(p.chosen.has_value());
    EXPECT_EQ(p.chosen->offer.purchase, Purchase::owned);
    bool rented = false;
    for (const Row& row : p.rows) rented = rented || row.lost.starts_with("rented: $");
    EXPECT_TRUE(rented);
}

TEST(NamedCount, RestsOnSpotWhereTheUserPrefersIt) {
    Request r = test::request(test::model("llama-3.1-8b"), 100e9);
    r.job.deadline = 30 * kDay;
    r.job.instance = "p5.48xlarge";
    r.job.nodes = 4;
    r.spot_preference = SpotPreference::always;
    const Found f = found(r);
    ASSERT_NE(f.chosen(), nullptr);
    EXPECT_EQ(f.chosen()->candidate.nodes, 4);
    EXPECT_EQ(f.chosen()->offer.purchase, Purchase::spot);
}

}  // namespace
}  // namespace trainyard::plan

#include "trainyard/plan/choose.hpp"

#include "test_job.hpp"

namespace trainyard::plan {
namespace {

/// An offer of p5.48xlarge; only what the choice looks at.
Option option(int nodes, Purchase purchase, Seconds wall, double usd) {
    Option o;
    o.candidate.instance = test::catalog().instance("p5.48xlarge");
    o.candidate.accelerator = test::catalog().accelerator("H100-80");
    o.candidate.nodes = nodes;
    o.offer.purchase = purchase;
    o.offer.wall = {wall, wall, wall};
    const MicroUsd cost = to_cents(usd * kUsd);
    o.offer.cost = {cost, cost, cost};
    return o;
}

/// The price of the spot part is `days` old.
Option aged(Option o, int days) {
    o.offer.stale = true;
    o.offer.spot_stale = true;
    o.offer.spot_age_days = o.offer.price_age_days = days;
    o.offer.spot_source.as_of = "2026-01-01";
    return o;
}

Limits limits() {
    Limits l;
    l.deadline = 14 * kDay;
    l.deadline_given = true;
    l.budget = 1000 * kUsd;
    return l;
}

// On spot a second node must be found in the same zone: being faster for 1.4 % more does not beat
// one node. On guaranteed capacity it does.
TEST(Choose, AFasterGangOnSpotDoesNotBeatOneNode) {
    const auto& a = Assumptions::embedded();
    const auto pick = [&](Purchase p) {
        const std::vector<Option> both = {option(2, p, 21.4 * kHour, 693),
                                          option(1, p, 42.6 * kHour, 683)};
        return choose(both, limits(), a).index;
    };
    EXPECT_EQ(pick(Purchase::spot), 1U);
    EXPECT_EQ(pick(Purchase::on_demand), 0U);
}

TEST(Choose, TheDoubtAboutSpotCarriesWhatItWouldSave) {
    const auto& a = Assumptions::embedded();
    const Option firm = option(5, Purchase::on_demand, 5 * kDay, 800);
    const Option spot = option(5, Purchase::spot, 5 * kDay, 600);
    EXPECT_EQ(why_lost(spot, firm, limits(), a), "25 % less, but 5 spot nodes at once in one zone");
    Option mixed = aged(option(2, Purchase::mixed, 5 * kDay, 720), 335);
    mixed.offer.base_nodes = 1;
    EXPECT_EQ(why_lost(mixed, firm, limits(), a),
              "10 % less, but the price of its spot part is 335 days old");
}

// The winner leans on a price of the same age: that cannot be why the other lost.
TEST(Choose, AgainstASpotWinnerTheAgeOfAPriceDecidesNothing) {
    const auto& a = Assumptions::embedded();
    const Option winner = aged(option(2, Purchase::spot, 5 * kDay, 400), 335);
    Option mixed = aged(option(2, Purchase::mixed, 5 * kDay, 700), 335);
    mixed.offer.base_nodes = 1;
    EXPECT_EQ(why_lost(mixed, winner, limits(), a), "costs 75 % more");
}

}  // namespace
}  // namespace trainyard::plan

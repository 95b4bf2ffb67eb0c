#include "play_offer.hpp"

#include "test_job.hpp"
#include "trainyard/plan/search.hpp"

namespace trainyard::plan {
namespace {

std::optional<Option> spot_option(const Request& r, int nodes) {
    const auto& a = Assumptions::embedded();
    const SearchResult found =
        search_type(r, test::catalog(), a, *test::catalog().instance("p4d.24xlarge"), {nodes});
    if (found.candidates.empty()) return std::nullopt;
    const Candidate& c = found.candidates.front();
    for (const Offer& o : offers(c, r, work_of(r.job, a), "EC2", test::catalog(), a)) {
        if (o.purchase == Purchase::spot) return Option{c, o};
    }
    return std::nullopt;
}

TEST(PlayOffer, RestsOnSimulatedRuns) {
    const Request r = test::request(test::model("llama-3.1-8b"), 100e9);
    const auto option = spot_option(r, 2);
    ASSERT_TRUE(option.has_value());
    ASSERT_TRUE(can_be_played(*option, r));
    const Offer o = play_offer(*option, r, "EC2", test::catalog(), Assumptions::embedded());
    EXPECT_GT(o.played, 0u);
    // Never shorter than the steps alone, never outside its own range.
    EXPECT_GT(o.wall.expected, option->candidate.training_time());
    EXPECT_LT(o.wall.low, o.wall.expected);
    EXPECT_GT(o.wall.high, o.wall.expected);
    EXPECT_LT(o.cost.low, o.cost.expected);
    EXPECT_GT(o.cost.high, o.cost.expected);
    EXPECT_EQ(o.bill.total(), o.cost.expected);
    EXPECT_GT(o.risk.interruptions_high, o.risk.interruptions);
}

// One node: Daly's optimum is longer than the cap, in the expected offer and in the played one.
TEST(PlayOffer, KeepsTheCapOfTheInterval) {
    const Request r = test::request(test::model("llama-3.1-8b"), 20e9);
    const auto option = spot_option(r, 1);
    ASSERT_TRUE(option.has_value());
    const auto& a = Assumptions::embedded();
    const Offer o = play_offer(*option, r, "EC2", test::catalog(), a);
    EXPECT_LE(o.risk.interval, a.seconds("checkpoint.max_interval"));
}

TEST(PlayOffer, TheRunThatIsWrittenWaitsAsTheOfferSays) {
    const Request r = test::request(test::model("llama-3.1-8b"), 20e9);
    const auto option = spot_option(r, 2);
    ASSERT_TRUE(option.has_value());
    const auto run = make_run(*option, r, "EC2", test::catalog(), Assumptions::embedded(), nullptr);
    ASSERT_TRUE(run.spec.pools.front().process.has_value());
    EXPECT_NEAR(run.spec.pools.front().process->down.mean() / kSecond,
                option->offer.risk.wait_per_interruption / kSecond, 1e-6);
}

TEST(PlayOffer, IsTheSameEachTime) {
    const Request r = test::request(test::model("llama-3.1-8b"), 20e9);
    const auto option = spot_option(r, 1);
    ASSERT_TRUE(option.has_value());
    const auto& a = Assumptions::embedded();
    const Offer one = play_offer(*option, r, "EC2", test::catalog(), a);
    const Offer two = play_offer(*option, r, "EC2", test::catalog(), a);
    EXPECT_EQ(one.cost.expected, two.cost.expected);
    EXPECT_EQ(one.wall.high, two.wall.high);
}

TEST(PlayOffer, IndependentRunsKeepTheirExpectedValue) {
    Request r = test::request(test::model("llama-3.1-8b"), 20e9);
    const auto option = spot_option(r, 1);
    ASSERT_TRUE(option.has_value());
    r.job.copies = 4;
    EXPECT_FALSE(can_be_played(*option, r));
}

}  // namespace
}  // namespace trainyard::plan

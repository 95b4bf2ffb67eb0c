#include "trainyard/spot/simulate.hpp"

#include <gtest/gtest.h>

#include "test_runs.hpp"

namespace trainyard::spot {
namespace {

Summary summary_of(const RunSpec& spec, std::string_view policy, SimulateOptions options) {
    auto result = simulate(spec, policy, options);
    EXPECT_TRUE(result) << (result ? "" : format(result.error().diagnostics));
    return result ? *result : Summary{};
}

SimulateOptions options_of(std::uint64_t runs, std::uint64_t seed, int threads) {
    SimulateOptions o;
    o.runs = runs;
    o.seed = seed;
    o.threads = threads;
    return o;
}

TEST(Simulate, ThreadsNeverChangeADigit) {
    const RunSpec spec = busy_run();
    const Summary one = summary_of(spec, "spot_only", options_of(3000, 1, 1));
    for (const int threads : {2, 3, 7}) {
        const Summary many = summary_of(spec, "spot_only", options_of(3000, 1, threads));
        EXPECT_EQ(many.unseed, one.unseed);
        EXPECT_EQ(many.hours.mean, one.hours.mean);
        EXPECT_EQ(many.usd.mean, one.usd.mean);
        EXPECT_EQ(many.usd.p90, one.usd.p90);
        EXPECT_EQ(many.mean_time.lost, one.mean_time.lost);
        EXPECT_EQ(many.goodput, one.goodput);
    }
}

TEST(Simulate, TheUnseedTellsSeedsApart) {
    const RunSpec spec = busy_run();
    const auto unseed = [&](std::uint64_t seed) {
        return summary_of(spec, "spot_only", options_of(300, seed, 2)).unseed;
    };
    EXPECT_EQ(unseed(5), unseed(5));
    EXPECT_NE(unseed(5), unseed(6));
}

TEST(Simulate, EveryRunsTimeAndMoneyAddUp) {
    const RunSpec spec = busy_run();
    const auto policy = make_policy("spot_only");
    for (std::uint64_t run = 0; run < 400; ++run) {
        std::vector<TimelineEvent> timeline;
        const RunResult r = play(spec, *policy, 11, run, &timeline);
        ASSERT_FALSE(timeline.empty());
        const double wall = timeline.back().at / kSecond;
        EXPECT_NEAR(r.time.wall() / kSecond, wall, 1e-6 * wall);
        EXPECT_NEAR(r.money.total() / kUsd, timeline.back().spent / kUsd, 1e-6);
        if (r.ending == Ending::finished) {
            // Nothing that counts is lost: useful time and slower time make up the work.
            EXPECT_NEAR(r.time.useful / spec.work, 1, 1e-9);
        }
        for (const Seconds part : {r.time.useful, r.time.slower, r.time.lost, r.time.checkpoint,
                                   r.time.restart, r.time.reshard, r.time.waiting})
            EXPECT_GE(part / kSecond, -1e-6);
        EXPECT_GE(r.interruptions, 0);
    }
}

TEST(Simulate, TheBudgetIsNeverExceeded) {
    RunSpec spec = busy_run();
    for (const bool per_second : {true, false}) {
        spec.rules.per_second = per_second;
        for (const double budget : {1.0, 50.0, 500.0, 3000.0, 8000.0, 12000.0}) {
            spec.budget = budget * kUsd;
            for (const char* name : {"spot_only", "on_demand"}) {
                const auto policy = make_policy(name);
                for (std::uint64_t run = 0; run < 100; ++run) {
                    const RunResult r = play(spec, *policy, 5, run, nullptr);
                    EXPECT_LE(r.money.total() / kUsd, budget);
                }
            }
        }
    }
}

// $480 per hour: in 10 h $4,800 are spent of $5,000. What is kept back is one minute of 8 nodes
// and one save of 70 s: $17.3; so the run stops saved, with more than 10 h of its time paid.
TEST(Simulate, ARunThatStopsForMoneyIsSaved) {
    RunSpec spec = run_of(100 * kHour, 8);
    spec.checkpoints.interval = 1 * kHour;
    spec.checkpoints.blocking = 7 * kSecond;
    spec.checkpoints.persist = 70 * kSecond;
    spec.budget = 5000 * kUsd;
    spec.pools = {on_demand_pool(60)};
    std::vector<TimelineEvent> timeline;
    const RunResult r = play(spec, *make_policy("on_demand"), 1, 0, &timeline);
    EXPECT_EQ(r.ending, Ending::out_of_budget);
    EXPECT_GT(r.money.total() / kUsd, 4980);
    EXPECT_LE(r.money.total() / kUsd, 5000);
    EXPECT_EQ(r.time.lost, Seconds{});
    EXPECT_NEAR(timeline.back().done / kHour, r.time.useful / kHour, 1e-9);
}

TEST(Simulate, AFixedCadenceShorterThanTheSaveIsRefusedWithTheReason) {
    RunSpec spec = busy_run();
    spec.checkpoints.cadence = Cadence::fixed;
    spec.checkpoints.interval = 60 * kSecond;
    const auto result = simulate(spec, "spot_only", {});
    ASSERT_FALSE(result);
    ASSERT_EQ(result.error().diagnostics.size(), 1U);
    EXPECT_EQ(result.error().diagnostics[0].what, "a save every 60 s cannot be kept up");
    EXPECT_NE(result.error().diagnostics[0].why.find("70 s"), std::string::npos);
}

TEST(Simulate, EveryMistakeIsNamed) {
    RunSpec spec;
    const auto result = simulate(spec, "no_such_policy", {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
    // No work, no pool, no policy.
    EXPECT_EQ(result.error().diagnostics.size(), 3U);
}

TEST(Simulate, StopsFromOutsideWithWhatThereIs) {
    std::atomic<bool> stop = false;
    SimulateOptions options = options_of(1'000'000, 1, 2);
    options.stop = &stop;
    options.progress = [&](double share) {
        if (share > 0) stop = true;
    };
    const Summary s = summary_of(busy_run(), "spot_only", options);
    EXPECT_TRUE(s.partial);
    EXPECT_GT(s.runs, 0U);
    EXPECT_LT(s.runs, 1'000'000U);
}

}  // namespace
}  // namespace trainyard::spot

#include <gtest/gtest.h>

#include <cmath>

#include "simulate_chart.hpp"
#include "simulate_options.hpp"
#include "simulate_trace.hpp"
#include "simulate_words.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {
namespace {

using spot::HistogramBin;
using spot::Summary;

TEST(SimulateCadence, NamesReadBackWhatTheySay) {
    for (const char* name : {"fixed:5m", "fixed:2h", "fixed:90s", "young", "daly", "best", "age"}) {
        const auto choice = parse_cadence(name);
        ASSERT_TRUE(choice) << name;
        spot::Checkpoints c;
        c.cadence = choice->cadence;
        c.interval = choice->interval;
        EXPECT_EQ(cadence_of(c).name, name);
    }
    EXPECT_EQ(parse_cadence("fixed:5m")->interval, 5.0 * kMinute);
    for (const char* name : {"", "fixed", "fixed:", "fixed:5", "fixed:0s", "dayly", "fixed:-5m"})
        EXPECT_FALSE(parse_cadence(name)) << name;
}

TEST(SimulateBar, IsFilledInEighths) {
    EXPECT_EQ(bar(1, 2), "██");
    EXPECT_EQ(bar(0.75, 2), "█▌");
    EXPECT_EQ(bar(0, 2), "");
    EXPECT_EQ(bar(7, 2), "██");
    EXPECT_EQ(bar(-1, 2), "");
}

TEST(SimulateBins, LoseNoRun) {
    std::vector<HistogramBin> fine;
    std::uint64_t total = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto count = static_cast<std::uint64_t>(1000.0 * std::exp(-i / 40.0));
        fine.push_back({100.0 + i, 101.0 + i, count});
        total += count;
    }
    const auto bins = coarse_bins(fine, 12);
    ASSERT_GE(bins.size(), 4u);
    ASSERT_LE(bins.size(), 12u);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bins.size(); ++i) {
        seen += bins[i].count;
        if (i > 0) {
            EXPECT_EQ(bins[i].from, bins[i - 1].to);
        }
    }
    EXPECT_EQ(seen, total);
    EXPECT_TRUE(std::isinf(bins.back().to));
}

TEST(SimulateBins, OneValueIsOneRow) {
    EXPECT_EQ(coarse_bins({{5, 5, 10}}, 12).size(), 1u);
    EXPECT_TRUE(coarse_bins({}, 12).empty());
    EXPECT_TRUE(coarse_bins({{5, 6, 0}}, 12).empty());
}

TEST(SimulateAscii, SpellsEverySign) {
    EXPECT_EQ(to_ascii("█▌ 3 ± 1 · x…"), "#= 3 +- 1 - x...");
    EXPECT_EQ(to_ascii("日本"), "??");
    for (const char c : to_ascii(bar(0.9, 7))) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

Summary summary(double on_time, double in_budget, double finished) {
    Summary s;
    s.meets_deadline = on_time;
    s.meets_budget = in_budget;
    s.finished = finished;
    return s;
}

TEST(SimulateCertainty, IsAsGoodAsTheWorstLimit) {
    EXPECT_EQ(certainty_of(summary(1, 1, 1)), Certainty::sure);
    EXPECT_EQ(certainty_of(summary(0.9, 1, 1)), Certainty::sure);
    EXPECT_EQ(certainty_of(summary(0.89, 1, 1)), Certainty::risky);
    EXPECT_EQ(certainty_of(summary(1, 0.5, 1)), Certainty::risky);
    EXPECT_EQ(certainty_of(summary(1, 0.49, 1)), Certainty::no);
    EXPECT_EQ(certainty_of(summary(1, 1, 0)), Certainty::no);
}

// Wilson (1927): 0 of 10 at 95 % reaches up to z^2 / (n + z^2) = 3.8415 / 13.8415 = 0.2775.
TEST(SimulateShare, RangeOfNothingSeenIsNotNothing) {
    const ShareRange r = share_range(0, 10);
    EXPECT_EQ(r.low, 0);
    EXPECT_NEAR(r.high, 0.2775, 1e-4);
    EXPECT_LT(share_range(0.5, 10000).high - share_range(0.5, 10000).low, 0.02);
}

TEST(SimulateShare, WordsNeverRoundToCertainty) {
    EXPECT_EQ(share_words(1), "100 %");
    EXPECT_EQ(share_words(0.99996), "> 99.9 %");
    EXPECT_EQ(share_words(0.00004), "< 0.1 %");
    EXPECT_EQ(share_words(0), "0 %");
    EXPECT_EQ(share_words(0.123), "12.3 %");
}

// Nothing but the step time varies, 10 % to each side: a normal in the logarithm, deviation
// ln 1.1 / 1.2816 = 0.0744 (the lower side ln 1/0.9: 0.0822), so that of the cost is 7.4 to 8.3 %
// of its mean; the error of the mean of 400 runs is a twentieth of it.
TEST(SimulateNoise, IsTheErrorOfTheMean) {
    spot::RunSpec spec;
    spec.work = 10 * kHour;
    spec.step_time = {0.9, 1.1};
    spec.checkpoints.cadence = spot::Cadence::fixed;
    spec.checkpoints.interval = 1e6 * kHour;
    spot::Pool pool;
    pool.purchase = spot::Purchase::on_demand;
    pool.price = 1 * kUsdPerHour;
    spec.pools = {pool};
    spot::SimulateOptions options;
    options.runs = 400;
    const auto s = spot::simulate(spec, "on_demand", options);
    ASSERT_TRUE(s.has_value());
    EXPECT_GT(usd_standard_error(*s), 0.065 * s->usd.mean / 20);
    EXPECT_LT(usd_standard_error(*s), 0.095 * s->usd.mean / 20);
}

TEST(SimulateTime, PartsSumToTheWall) {
    spot::TimeSplit t;
    t.useful = 10.0 * kHour;
    t.lost = 1.0 * kHour;
    t.waiting = 3.0 * kHour;
    t.restart = 2.0 * kHour;
    Seconds sum;
    double share = 0;
    const auto parts = time_parts(t);
    for (const TimePart& p : parts) {
        sum += p.time;
        share += p.share;
    }
    EXPECT_EQ(sum, t.wall());
    EXPECT_NEAR(share, 1, 1e-12);
    EXPECT_EQ(parts[0].key, "useful");
    EXPECT_EQ(parts[1].key, "waiting");
}

spot::RunSpec spec_with_spot() {
    spot::RunSpec spec;
    spec.nodes = 4;
    spot::Pool pool;
    pool.purchase = spot::Purchase::spot;
    pool.price = 9.0 * kUsdPerHour;
    pool.process.emplace();
    spec.pools.push_back(pool);
    pool.purchase = spot::Purchase::on_demand;
    pool.process.reset();
    spec.pools.push_back(pool);
    return spec;
}

std::vector<spot::PoolTrace> two_zones() {
    std::vector<spot::PoolTrace> traces(2);
    traces[0].pool = "us-west-2a_v100_1";
    traces[1].pool = "us-west-2b_v100_1";
    for (spot::PoolTrace& t : traces) {
        t.start = {0, 600};
        t.nodes = {1, 0};
        t.end = 1200.0 * kSecond;
        t.price_start = {0};
        t.price = {1.5};
    }
    return traces;
}

TEST(SimulateTraces, ReplaceTheAssumedPoolAndStandForTheWholeGang) {
    spot::RunSpec spec = spec_with_spot();
    auto traces = two_zones();
    ASSERT_FALSE(use_traces(traces, false, spec));
    ASSERT_EQ(spec.pools.size(), 3u);
    EXPECT_EQ(spec.pools[0].trace, &traces[0]);
    EXPECT_FALSE(spec.pools[0].process);
    EXPECT_EQ(spec.pools[0].price, 9.0 * kUsdPerHour);
    EXPECT_EQ(traces[0].nodes, (std::vector<int>{4, 0}));
    EXPECT_TRUE(traces[0].price.empty());
    EXPECT_EQ(spec.pools[0].region, spec.pools[1].region);
    EXPECT_EQ(spec.pools[2].purchase, spot::Purchase::on_demand);
}

TEST(SimulateTraces, NeedAPriceFromSomewhere) {
    spot::RunSpec spec = spec_with_spot();
    spec.pools.erase(spec.pools.begin());
    auto traces = two_zones();
    spot::RunSpec copy = spec;
    EXPECT_TRUE(use_traces(traces, false, copy));
    traces = two_zones();
    copy = spec;
    EXPECT_FALSE(use_traces(traces, true, copy));
    EXPECT_EQ(traces[0].price.size(), 1u);
}

}  // namespace
}  // namespace trainyard::cli

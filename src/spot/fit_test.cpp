#include "trainyard/spot/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "trainyard/base/random.hpp"
#include "trainyard/spot/stats.hpp"

namespace trainyard::spot {
namespace {

Life life(double seconds, bool ended = true) { return {{}, seconds * kSecond, ended, false}; }

TEST(KaplanMeier, ByHand) {
    // 4 at risk, 1 ends at 1 s: 3/4. One is cut at 2 s. 2 at risk, 1 ends at 3 s: 3/4 * 1/2.
    const std::vector<Life> lives = {life(1), life(2, false), life(3), life(4, false)};
    const KaplanMeier curve = kaplan_meier(lives);
    EXPECT_EQ(curve.time, (std::vector<double>{1, 3}));
    EXPECT_EQ(curve.survival, (std::vector<double>{0.75, 0.375}));
    EXPECT_EQ(curve.at(0.5 * kSecond), 1);
    EXPECT_EQ(curve.at(1 * kSecond), 0.75);
    EXPECT_EQ(curve.at(9 * kSecond), 0.375);
}

TEST(FitWeibull, FindsTheParametersOfItsOwnQuantiles) {
    const Weibull truth{2 * kHour, 0.6};
    std::vector<Life> lives;
    constexpr int kCount = 20000;
    for (int i = 0; i < kCount; ++i) {
        const double survival = (i + 0.5) / kCount;
        lives.push_back(life(truth.scale.base() * std::pow(-std::log(survival), 1 / 0.6)));
    }
    const auto fit = fit_weibull(lives, {});
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->life.shape, 0.6, 0.001);
    EXPECT_NEAR(fit->life.scale / kHour, 2, 0.01);
    EXPECT_LT(fit->ks, 0.001);
    EXPECT_GT(fit->log_likelihood, fit->exponential_log_likelihood + 100);
}

// 30,000 lives with shape 0.7, a third of them cut at 1 h: standard errors are about 0.6 %.
TEST(FitWeibull, CensoringIsNotDeath) {
    Random random(11, 0);
    std::vector<Life> cut;
    std::vector<Life> wrong;
    for (int i = 0; i < 30000; ++i) {
        const double t = random.weibull(3600, 0.7);
        cut.push_back(life(std::min(t, 3600.0), t <= 3600));
        wrong.push_back(life(std::min(t, 3600.0)));
    }
    const auto right = fit_weibull(cut, {});
    const auto biased = fit_weibull(wrong, {});
    ASSERT_TRUE(right && biased);
    EXPECT_NEAR(right->life.shape, 0.7, 0.02);
    EXPECT_NEAR(right->life.scale.base(), 3600, 100);
    EXPECT_LT(biased->life.scale.base(), 2500);
}

// Lives with shape 0.6 and scale 1 h, seen in ticks of 15 min: a fit that takes the ticks for exact
// is off by 0.1 or more in the shape.
TEST(FitWeibull, TicksAreNoExactTimes) {
    Random random(3, 0);
    std::vector<Life> seen;
    for (int i = 0; i < 20000; ++i) {
        const double ticks = std::max(1.0, std::round(random.weibull(3600, 0.6) / 900));
        seen.push_back(life(900 * ticks));
    }
    const auto grouped = fit_weibull(seen, 900 * kSecond);
    const auto exact = fit_weibull(seen, {});
    ASSERT_TRUE(grouped && exact);
    EXPECT_NEAR(grouped->life.shape, 0.6, 0.02);
    EXPECT_NEAR(grouped->life.scale.base(), 3600, 100);
    EXPECT_GT(exact->life.shape, 0.7);
    EXPECT_LT(grouped->ks, 0.01);
    EXPECT_GT(grouped->log_likelihood, grouped->exponential_log_likelihood + 100);
}

TEST(FitWeibull, SaysNothingAboutTooLittle) {
    EXPECT_FALSE(fit_weibull(std::vector<Life>{life(1), life(2), life(3), life(4)}, {}));
    EXPECT_FALSE(fit_weibull(std::vector<Life>(9, life(600)), {}));
    std::vector<Life> lives = {life(1), life(2), life(3), life(4), life(5)};
    EXPECT_TRUE(fit_weibull(lives, {}));
    lives[4].first = true;  // its true age is unknown
    EXPECT_FALSE(fit_weibull(lives, {}));
}

/// Steps of 100 s each.
PoolTrace trace_of(const std::vector<int>& nodes, int capacity) {
    PoolTrace t;
    t.pool = "p";
    t.capacity = capacity;
    t.tick = 100 * kSecond;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i > 0 && nodes[i] == nodes[i - 1]) continue;
        t.start.push_back(100.0 * static_cast<double>(i));
        t.nodes.push_back(nodes[i]);
    }
    t.end = static_cast<double>(nodes.size()) * 100 * kSecond;
    return t;
}

TEST(Lives, UpAndDownOfAGang) {
    const UpDown lives = lives_of(trace_of({4, 4, 3, 0, 4, 4, 4}, 4), 4);
    ASSERT_EQ(lives.up.size(), 2U);
    EXPECT_EQ(lives.up[0].time / kSecond, 200);
    EXPECT_TRUE(lives.up[0].first && lives.up[0].ended);
    EXPECT_EQ(lives.up[1].from / kSecond, 400);
    EXPECT_FALSE(lives.up[1].ended);
    ASSERT_EQ(lives.down.size(), 1U);
    EXPECT_EQ(lives.down[0].time / kSecond, 200);
    EXPECT_EQ(lives_of(trace_of({4, 4, 3, 0, 4}, 4), 3).up.at(0).time / kSecond, 300);
}

// Ends of the up times of 4 nodes: four to zero, two that leave 2 and 1 (lost 2 and 3), two
// single nodes. Up: 1+1+2+1+3+1+2+1 ticks of 100 s, of 4 nodes each.
TEST(FitProcess, CountsDropsSinglesAndBursts) {
    const ProcessFit fit =
        fit_process(trace_of({4, 0, 4, 3, 4, 4, 0, 4, 2, 4, 4, 4, 1, 4, 3, 4, 4, 0, 4, 0}, 4), 0);
    EXPECT_EQ(fit.drops, 6);
    EXPECT_EQ(fit.singles, 2);
    ASSERT_EQ(fit.missing, "");
    EXPECT_EQ(fit.up->ended, 5);  // the first up time is not counted
    EXPECT_NEAR(fit.process.gang_share, 4.0 / 6, 1e-12);
    EXPECT_NEAR(fit.process.burst, 2.5, 1e-12);
    EXPECT_NEAR(fit.process.single_per_hour, 2 / (1200.0 / 3600 * 4), 1e-12);
    EXPECT_NEAR(fit.process.start_up, 12.0 / 20, 1e-12);
}

TEST(FitProcess, SaysWhyThereIsNone) {
    EXPECT_EQ(fit_process(trace_of({1, 1, 1}, 1), 0).missing, "no up time ended");
    EXPECT_EQ(fit_process(trace_of({0, 1, 1}, 4), 0).missing, "the gang was never up");
    EXPECT_EQ(fit_process(trace_of({1, 0, 1, 0, 1}, 1), 0).missing,
              "1 of 3 up times began in the trace and ended; a fit needs 5");
    EXPECT_EQ(fit_process(trace_of({1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}, 1), 0).missing,
              "the 5 up times that began in the trace and ended are equally long");
    EXPECT_EQ(fit_process(trace_of({2, 0, 2, 0, 2, 1, 2, 1, 2, 1}, 2), 0).missing,
              "1 of 5 up times began in the trace and ended (3 lost a single node); "
              "a fit needs 5");
}

/// Weibull lives under a hazard that is three times as high from 12:00 to 18:00 UTC.
PoolTrace day_trace(double busy, int days) {
    Random random(5, 0);
    PoolTrace t;
    t.pool = "p";
    t.first_utc = 86400 * 365;
    double now = 0;
    bool up = true;
    while (now < 86400.0 * days) {
        t.start.push_back(now);
        t.nodes.push_back(up ? 1 : 0);
        const double hour = std::fmod(now / 3600, 24);
        const double factor = up && hour >= 12 && hour < 18 ? busy : 1;
        // Lives are short against an hour, so the hour of the start is nearly that of the end.
        now += random.weibull(900 / factor, 1);
        up = !up;
    }
    t.end = now * kSecond;
    return t;
}

TEST(FitProcess, HoursOfTheDayOnlyWhereTheyMatter) {
    const ProcessFit rhythm = fit_process(day_trace(3, 60), 0);
    const auto& factor = rhythm.process.hour_factor;
    EXPECT_GT(rhythm.hour_chi_square, 41.638);
    EXPECT_GT(factor[14] / factor[4], 2);
    EXPECT_LT(factor[14] / factor[4], 4);
    const ProcessFit flat = fit_process(day_trace(1, 60), 0);
    EXPECT_GT(flat.hour_chi_square, 0);
    for (double f : flat.process.hour_factor) EXPECT_EQ(f, 1);
}

TEST(Processes, TheTableReadsBack) {
    ProcessFit fit = fit_process(day_trace(3, 60), 0);
    fit.process.price = {1.5, 0.25, 2 * kHour};
    fit.process.source = {"a, \"b\"", "2026-01-01", "fitted"};
    auto read = read_processes(write_processes({fit}), "p.csv");
    ASSERT_TRUE(read) << format(read.error().diagnostics);
    ASSERT_EQ(read->size(), 1U);
    const PoolProcess& p = read->front();
    EXPECT_NEAR(p.up.shape, fit.process.up.shape, 1e-3);
    EXPECT_NEAR(p.up.scale / fit.process.up.scale, 1, 1e-3);
    EXPECT_NEAR(p.hour_factor[14], fit.process.hour_factor[14], 1e-3);
    EXPECT_EQ(p.source.text, "a, \"b\"");
    EXPECT_EQ(p.price.between_changes / kHour, 2);
}

TEST(Processes, BadCellsAreNamed) {
    std::string text = write_processes({});
    text +=
        "a,1,-1,10,1,10,0.5,1,1,0,,,,,1,1,0,0,0,s,d,fitted\n"
        ",1,1,10,1,10,1.5,1,1,0,,,,1 2,1,1,0,0,0,s,d,fitted\n";
    auto read = read_processes(text, "p.csv");
    ASSERT_FALSE(read);
    ASSERT_EQ(read.error().diagnostics.size(), 4U);
    EXPECT_EQ(read.error().diagnostics[0].where.line, 2);
    EXPECT_EQ(read.error().diagnostics[0].where.column, 5);
}

TEST(Processes, EmbeddedOnesAreSound) {
    const auto& all = embedded_processes();
    ASSERT_GE(all.size(), 20U);
    for (const PoolProcess& p : all) {
        EXPECT_FALSE(p.source.text.empty() || p.source.as_of.empty()) << p.name;
        EXPECT_GT(p.up.mean(), Seconds{}) << p.name;
        EXPECT_LT(p.up.mean(), 10 * kYear) << p.name;
        for (const PoolProcess& other : all) EXPECT_TRUE(&p == &other || p.name != other.name);
    }
}

/// P(an up time that goes on at a random moment ends within a month), by the trapezoid rule.
double lost_in_a_month(const Weibull& up) {
    constexpr int kSteps = 200000;
    double sum = 0;
    for (int i = 0; i <= kSteps; ++i)
        sum += (i == 0 || i == kSteps ? 0.5 : 1) * up.survival(kMonth * i / kSteps);
    return sum / kSteps * (kMonth / up.mean());
}

TEST(ProcessFromBand, LosesItsShareInAMonth) {
    const PoolProcess p = process_from_band(0.05, 0.10, "p5");
    EXPECT_NEAR(lost_in_a_month(p.up), 0.075, 1e-5);
    EXPECT_NEAR(lost_in_a_month(process_from_band(0.2, 1, "p3").up), 0.6, 1e-4);
    EXPECT_LT(p.up.shape, 1);
    EXPECT_EQ(p.source.status, "assumed");
    EXPECT_GT(process_from_band(0, 0.05, "a").up.scale, p.up.scale);
    EXPECT_NEAR(p.start_up, p.up.mean() / (p.up.mean() + p.down.mean()), 1e-12);
}

TEST(ProcessFromBand, ADropTakesAPartOfAGang) {
    const PoolProcess gang = process_from_band(0.05, 0.10, "p5", 16);
    EXPECT_GE(gang.burst, 1);
    EXPECT_LE(gang.burst, 16);
    EXPECT_LT(gang.gang_share, 1);
    const double part = gang.gang_share + (1 - gang.gang_share) * gang.burst / 16;
    EXPECT_NEAR(lost_in_a_month(gang.up) * part, 0.075, 1e-5);
}

TEST(ProcessFromBand, EndsOfTheScaleAreFinite) {
    for (const PoolProcess& p : {process_from_band(0, 0, "a"), process_from_band(1, 1, "a")}) {
        EXPECT_TRUE(std::isfinite(p.up.scale.base()));
        EXPECT_GT(p.up.scale, Seconds{});
    }
}

}  // namespace
}  // namespace trainyard::spot

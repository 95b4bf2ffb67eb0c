#include "trainyard/perf/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "trainyard/base/random.hpp"

namespace trainyard::perf {
namespace {

constexpr Seconds kPredicted = 10 * kSecond;
const ErrorBand kBefore{0.88, 1.14, "the published band"};
const CalibrationKey kKey{"llama", "p5.48xlarge", "tuned"};

/// A run whose steps take `ratio` times the prediction, each span off by `noise`.
MeasuredRun run_of(double ratio, double noise, int spans, Random& random) {
    std::vector<StepSpan> all;
    for (int i = 0; i < spans; ++i)
        all.push_back({2, 2.0 * ratio * std::exp(noise * random.normal()) * kPredicted});
    return measure(all, kPredicted, "run");
}

double width(const Calibration& c) { return std::log(c.band.high / c.band.low); }

TEST(Calibration, RecoversAKnownTruthAndNarrowsWithMoreRuns) {
    // The truth: 8 % slower than predicted, runs differ by 1 %, spans by 2 %.
    Random random(1, 0);
    std::vector<MeasuredRun> runs;
    std::vector<double> widths;
    for (int i = 0; i < 12; ++i) {
        runs.push_back(run_of(1.08 * std::exp(0.01 * random.normal()), 0.02, 40, random));
        const Calibration c = calibrate(kKey, kBefore, runs);
        widths.push_back(width(c));
        if (i >= 3) {
            EXPECT_NEAR(c.factor, 1.08, 0.015) << i;
        }
    }
    const double before = std::log(kBefore.high / kBefore.low);
    EXPECT_LT(widths[0], 0.9 * before);  // one run says something
    EXPECT_LT(widths[2], 0.7 * widths[0]);
    EXPECT_LT(widths[11], widths[2]);
    EXPECT_GT(widths[11], 2 * 1.28 * 0.02 * 0.8);  // not below the spread of the spans
}

TEST(Calibration, OneRunThatIsFarOffMovesItOnlyPart) {
    Random random(2, 0);
    const Calibration c = calibrate(kKey, kBefore, {run_of(1.3, 0.01, 40, random)});
    EXPECT_GT(c.factor, 1.08);
    EXPECT_LT(c.factor, 1.3);
    EXPECT_GE(c.factor * c.band.high, 1.3);  // what was seen is in the band
}

TEST(Calibration, MoreStepsOfANoisyRunNarrowIt) {
    Random random(3, 0);
    const auto at = [&](int spans) {
        std::vector<MeasuredRun> runs{run_of(1.0, 0.2, spans, random)};
        runs.front().seen = {1.0};  // without the floor of what was seen
        return width(calibrate(kKey, kBefore, runs));
    };
    EXPECT_LT(at(200), at(5));
}

TEST(Calibration, SpansThatAreAlikeSayLess) {
    std::vector<StepSpan> slow_then_fast;
    std::vector<StepSpan> mixed;
    for (int i = 0; i < 20; ++i) {
        slow_then_fast.push_back({1, (i < 10 ? 12 : 10) * kSecond});
        mixed.push_back({1, (i % 2 == 0 ? 12 : 10) * kSecond});
    }
    EXPECT_GT(measure(slow_then_fast, kPredicted, "a").variance,
              5 * measure(mixed, kPredicted, "b").variance);
}

/// Of kinds whose deviations are those that the published runs have (data/perf/calibration.csv).
double coverage(int records, double& median_width) {
    const double unit = std::log(kBefore.high / kBefore.low) / 2 / 1.2816;
    const double centre = std::log(kBefore.high * kBefore.low) / 2;
    constexpr int kKinds = 400;
    int covered = 0;
    std::vector<double> widths;
    for (int kind = 0; kind < kKinds; ++kind) {
        Random random(static_cast<std::uint64_t>(records), static_cast<std::uint64_t>(kind));
        const double mean = 1.01 * random.normal();
        // Scale 0.232; two degrees of freedom: a chi-square of 2 is twice an exponential.
        const double deviation = std::sqrt(0.232 * 2 / (2 * random.exponential()));
        const auto draw = [&] {
            return std::exp(centre + unit * (mean + deviation * random.normal()));
        };
        std::vector<MeasuredRun> runs;
        for (int i = 0; i < records; ++i) runs.push_back(run_of(draw(), 0.02, 20, random));
        const Calibration c = calibrate(kKey, kBefore, runs);
        const double held_out = draw() / c.factor;
        if (held_out >= c.band.low && held_out <= c.band.high) ++covered;
        widths.push_back(width(c));
    }
    std::nth_element(widths.begin(), widths.begin() + kKinds / 2, widths.end());
    median_width = widths[kKinds / 2];
    return static_cast<double>(covered) / kKinds;
}

TEST(Calibration, FourInFiveHeldOutRunsAreInTheBand) {
    double last = 2;
    for (const int records : {1, 3, 10}) {
        double width = 0;
        const double covered = coverage(records, width);
        // 400 kinds: two standard deviations are 0.04; the spread that was seen widens it a little.
        EXPECT_GT(covered, 0.76) << records;
        EXPECT_LT(covered, 0.90) << records;
        EXPECT_LT(width, last) << records;
        last = width;
    }
}

TEST(Calibrations, AFileReadsBackAndHoldsForItsKindOnly) {
    Random random(4, 0);
    Calibrations all;
    all.add(calibrate(kKey, kBefore, {run_of(1.05, 0.02, 10, random)}));
    const auto back = Calibrations::parse(doc::write_json(all.json("2026-12-03")), "c.json");
    ASSERT_TRUE(back);
    const Calibration* mine = back->find(kKey);
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(mine->factor, all.all().front().factor);
    EXPECT_EQ(mine->sources, std::vector<std::string>{"run"});
    EXPECT_EQ(back->find({"llama", "p4d.24xlarge", "tuned"}), nullptr);
    EXPECT_EQ(back->find({"llama", "p5.48xlarge", "pytorch-fsdp"}), nullptr);
    EXPECT_FALSE(Calibrations::parse("{}", "c.json"));
    EXPECT_FALSE(Calibrations::parse(R"({"schema": "trainyard.calibration", "schema_version": 1,
        "calibrations": [{"family": "a", "instance": "b", "stack": "c", "factor": 0,
        "band_low": 0.9, "band_high": 1.1, "basis": ""}]})",
                                     "c.json"));
}

TEST(ScaleStep, ThePartsStillSumToTheTotal) {
    Prediction p;
    p.step.gemm = 3 * kSecond;
    p.step.data_comm = 1 * kSecond;
    p.step.total = 4 * kSecond;
    p.mfu = 0.5;
    scale_step(p, 1.25);
    EXPECT_DOUBLE_EQ(p.step.total / kSecond, 5);
    EXPECT_DOUBLE_EQ((p.step.gemm + p.step.data_comm) / kSecond, 5);
    EXPECT_DOUBLE_EQ(p.mfu, 0.4);
}

}  // namespace
}  // namespace trainyard::perf

// The engine against closed forms. Every expected value is derived above its test.

#include <gtest/gtest.h>

#include <cmath>

#include "test_runs.hpp"
#include "trainyard/spot/cadence.hpp"

namespace trainyard::spot {
namespace {

Summary summary_of(const RunSpec& spec, std::string_view policy, std::uint64_t runs) {
    SimulateOptions options;
    options.runs = runs;
    options.seed = 7;
    auto result = simulate(spec, policy, options);
    EXPECT_TRUE(result) << (result ? "" : format(result.error().diagnostics));
    return result ? *result : Summary{};
}

RunResult one_run(const RunSpec& spec, std::string_view policy, std::uint64_t run = 0,
                  std::vector<TimelineEvent>* timeline = nullptr) {
    return play(spec, *make_policy(policy), 3, run, timeline);
}

// 10 h of work with a save every hour: nine between the steps and the last one, 60 s each. Start:
// 300 + 60 + 120 s. Two nodes at $10/h for the whole time.
TEST(Engine, WithoutInterruptionsTimeAndMoneyAreExact) {
    RunSpec spec = run_of(10 * kHour, 2);
    spec.start = {300 * kSecond, 60 * kSecond, 120 * kSecond};
    spec.checkpoints.interval = 1 * kHour;
    spec.checkpoints.blocking = 60 * kSecond;
    spec.checkpoints.restore_s3 = 500 * kSecond;  // there is nothing to restore
    spec.pools = {on_demand_pool(10)};
    const RunResult r = one_run(spec, "on_demand");
    EXPECT_EQ(r.ending, Ending::finished);
    EXPECT_NEAR(r.time.useful / kSecond, 36000, 1e-6);
    EXPECT_NEAR(r.time.checkpoint / kSecond, 600, 1e-6);
    EXPECT_NEAR(r.time.restart / kSecond, 480, 1e-6);
    EXPECT_NEAR(r.time.wall() / kSecond, 37080, 1e-6);
    EXPECT_NEAR(r.money.on_demand / kUsd, 2 * 10 * 37080 / 3600.0, 1e-9);
    EXPECT_NEAR(r.on_demand_node_hours, 2 * 37080 / 3600.0, 1e-9);
    EXPECT_EQ(r.interruptions, 0);
}

// A background save blocks for 10 s and is safe 100 s after its start; the run ends when the last
// one is safe: 2 saves in between (20 s) and 100 s at the end.
// Nothing but the step time varies: the quantiles of the wall time are the range itself. Of 20,000
// runs the share below a 10 % quantile has a standard error of 0.2 points; the histogram keeps
// three digits.
TEST(Engine, TheStepTimeHasTheRangeOfThePlan) {
    RunSpec spec = run_of(100 * kHour, 1);
    spec.pools = {on_demand_pool(1)};
    spec.step_time = {0.9, 1.3};
    SimulateOptions options;
    options.runs = 20'000;
    const auto summary = simulate(spec, "on_demand", options);
    ASSERT_TRUE(summary.has_value());
    EXPECT_NEAR(summary->hours.p10, 90, 0.5);
    EXPECT_NEAR(summary->hours.p50, 100, 0.5);
    EXPECT_NEAR(summary->hours.p90, 130, 1.5);
    EXPECT_NEAR(summary->usd.p90, 130, 1.5);
    EXPECT_EQ(work_of(spec, 1, 7).base(), work_of(spec, 1, 7).base());
    EXPECT_NE(work_of(spec, 1, 7).base(), work_of(spec, 1, 8).base());
    EXPECT_NE(work_of(spec, 1, 7).base(), work_of(spec, 2, 7).base());
}

TEST(Engine, TheRunEndsWhenItsLastSaveIsSafe) {
    RunSpec spec = run_of(3 * kHour, 1);
    spec.checkpoints.interval = 1 * kHour;
    spec.checkpoints.blocking = 10 * kSecond;
    spec.checkpoints.persist = 100 * kSecond;
    spec.pools = {on_demand_pool(1)};
    EXPECT_NEAR(one_run(spec, "on_demand").time.checkpoint / kSecond, 120, 1e-6);
}

// Daly 2006, complete model: M e^{R/M} (e^{(t+d)/M} - 1) T/t with T a multiple of t, the last
// interval saved too, and restarts that can be interrupted. The engine's start is such a restart as
// well: expected M (e^{R/M} - 1).
void expect_daly(Seconds work, Seconds interval, Seconds mean_between, std::uint64_t runs) {
    RunSpec spec = run_of(work, 1);
    spec.start.boot = 10 * kMinute;
    spec.checkpoints.interval = interval;
    spec.checkpoints.blocking = 5 * kMinute;
    spec.failures_per_node_hour = kHour / mean_between;
    spec.give_up = 1e6 * kHour;
    spec.pools = {on_demand_pool(1)};
    const Seconds expected =
        daly_wall_time(work, interval, 5 * kMinute, 10 * kMinute, mean_between) +
        mean_between * std::expm1(10 * kMinute / mean_between);
    const Summary s = summary_of(spec, "on_demand", runs);
    EXPECT_EQ(s.finished, 1);
    EXPECT_NEAR(s.hours.mean / (expected / kHour), 1, 0.01) << mean_between / kHour;
}

TEST(Engine, PoissonFailuresGiveDalysExpectedTime) {
    expect_daly(500 * kHour, 125 * kMinute, 24 * kHour, 4000);
    expect_daly(500 * kHour, 50 * kMinute, 6 * kHour, 4000);
    expect_daly(9 * kHour, 9 * kMinute, 15 * kMinute, 4000);
}

// The same with 10 nodes that each fail ten times less often: the sum of Poisson processes.
TEST(Engine, FailuresOfManyNodesAddUp) {
    RunSpec spec = run_of(500 * kHour, 10);
    spec.start.boot = 10 * kMinute;
    spec.checkpoints.interval = 50 * kMinute;
    spec.checkpoints.blocking = 5 * kMinute;
    spec.failures_per_node_hour = 1 / 60.0;
    spec.pools = {on_demand_pool(1)};
    const Seconds expected =
        daly_wall_time(500 * kHour, 50 * kMinute, 5 * kMinute, 10 * kMinute, 6 * kHour);
    EXPECT_NEAR(summary_of(spec, "on_demand", 2000).hours.mean / (expected / kHour), 1, 0.01);
}

// Two-state Markov pool, mean up 2 h and down 1 h, restarts and saves free: work goes on exactly
// while the pool is up. Starting up, W of up time meets W/U drops on average, each followed by D:
// wall = W (1 + D/U); availability U/(U+D) = 2/3. A save every second loses less than 1 s a drop.
TEST(Engine, TwoStateMarkovAvailability) {
    RunSpec spec = run_of(200 * kHour, 4);
    spec.checkpoints.interval = 1 * kSecond;
    spec.rules.notice = Seconds{};
    spec.rules.first_hour_free = false;
    spec.pools = {spot_pool(5, {2 * kHour, 1}, {1 * kHour, 1})};
    const Summary s = summary_of(spec, "spot_only", 4000);
    EXPECT_EQ(s.finished, 1);
    EXPECT_NEAR(s.hours.mean, 300, 3);
    EXPECT_NEAR(s.goodput, 2.0 / 3, 0.01);
    EXPECT_NEAR(s.mean_interruptions, 100, 1);
    EXPECT_NEAR(s.usd.mean, 4 * 5 * 200, 10);
}

// The state at the start is stationary: a Weibull up time found at a random moment leaves
// E[L^2] / (2 E[L]) on average. Shape 1/2, scale s: E[L] = 2s, E[L^2] = 24 s^2, so 6s. A job that
// needs more than one up time, cannot save and gives up after 1e4 s is lost at the first drop.
TEST(Engine, TheFirstUpTimeIsFoundAtARandomMoment) {
    RunSpec spec = run_of(1e6 * kHour, 1);
    spec.give_up = 2e6 * kHour;
    spec.pools = {spot_pool(1, {1 * kHour, 0.5}, {1e9 * kHour, 1})};
    const Summary s = summary_of(spec, "spot_only", 40000);
    // Spot hours per run: the residual life. Its standard deviation is sqrt(E[L^3]/(3 E[L]) - 36)
    // with E[L^3] = 720: 9.2 h; of the mean 0.046 h.
    EXPECT_NEAR(s.mean_time.lost / kHour, 6, 0.2);
}

PoolTrace trace_of(std::vector<double> hours, std::vector<int> nodes, double end) {
    PoolTrace t;
    for (const double h : hours) t.start.push_back(h * 3600);
    t.nodes = std::move(nodes);
    t.end = end * kHour;
    return t;
}

// Up for half an hour, down for half an hour, then up: the first life ends by EC2 in its first hour
// and is free; the second is charged: 2 h of work and nothing else (no save was made in the first).
TEST(Engine, TheFirstHourIsFreeWhenEc2Interrupts) {
    const PoolTrace trace = trace_of({0, 0.5, 1}, {1, 0, 1}, 100);
    RunSpec spec = run_of(2 * kHour, 3);
    spec.trace_from_start = true;
    spec.pools = {spot_pool(4, {}, {})};
    spec.pools[0].process.reset();
    spec.pools[0].trace = &trace;
    const RunResult r = one_run(spec, "spot_only");
    EXPECT_NEAR(r.time.wall() / kHour, 3, 1e-9);
    EXPECT_NEAR(r.time.lost / kHour, 0.5, 1e-9);
    EXPECT_NEAR(r.time.waiting / kHour, 0.5, 1e-9);
    EXPECT_NEAR(r.money.spot / kUsd, 3 * 4 * 2, 1e-9);
    EXPECT_NEAR(r.money.forgiven / kUsd, 3 * 4 * 0.5, 1e-9);
    spec.rules.first_hour_free = false;
    EXPECT_NEAR(one_run(spec, "spot_only").money.spot / kUsd, 3 * 4 * 2.5, 1e-9);
}

// A life of 90 minutes is charged in full, and whole hours make two of it; the other life is 2 h.
TEST(Engine, AfterTheFirstHourNothingIsFreeAndHoursCanBeWhole) {
    const PoolTrace trace = trace_of({0, 1.5, 2}, {1, 0, 1}, 100);
    RunSpec spec = run_of(2 * kHour, 1);
    spec.trace_from_start = true;
    spec.pools = {spot_pool(4, {}, {})};
    spec.pools[0].process.reset();
    spec.pools[0].trace = &trace;
    EXPECT_NEAR(one_run(spec, "spot_only").money.spot / kUsd, 4 * 3.5, 1e-9);
    spec.rules.per_second = false;
    EXPECT_NEAR(one_run(spec, "spot_only").money.spot / kUsd, 4 * 4.0, 1e-9);
}

// The notice comes 120 s before the loss. A save of 90 s fits: the steps of the other 30 s are
// lost, those before are not. One of 130 s does not: all 1800 s are lost.
TEST(Engine, ASaveOnNoticeIsMadeOnlyIfItFits) {
    const PoolTrace trace = trace_of({0, 0.5, 1}, {1, 0, 1}, 100);
    RunSpec spec = run_of(2 * kHour, 1);
    spec.trace_from_start = true;
    spec.checkpoints.on_notice = 90 * kSecond;
    spec.pools = {spot_pool(4, {}, {})};
    spec.pools[0].process.reset();
    spec.pools[0].trace = &trace;
    const RunResult r = one_run(spec, "spot_only");
    EXPECT_EQ(r.saves_on_notice, 1);
    EXPECT_NEAR(r.time.lost / kSecond, 30, 1e-6);
    EXPECT_NEAR(r.time.checkpoint / kSecond, 90, 1e-6);
    spec.checkpoints.on_notice = 130 * kSecond;
    const RunResult late = one_run(spec, "spot_only");
    EXPECT_EQ(late.saves_on_notice, 0);
    EXPECT_NEAR(late.time.lost / kSecond, 1800, 1e-6);
}

// A background save is lost with the nodes while it uploads. Saves start after 600 and 1210 s of
// a life of 1500 s (10 s each) and take 400 s to be safe: the second is not, so 600 s are kept and
// 1500 - 10 - 10 - 600 = 880 s of steps are lost.
TEST(Engine, AnUploadUnderWayDoesNotCount) {
    const PoolTrace trace = trace_of({0, 1500 / 3600.0, 1}, {1, 0, 1}, 100);
    RunSpec spec = run_of(1 * kHour, 1);
    spec.trace_from_start = true;
    spec.checkpoints.interval = 600 * kSecond;
    spec.checkpoints.blocking = 10 * kSecond;
    spec.checkpoints.persist = 400 * kSecond;
    spec.pools = {spot_pool(4, {}, {})};
    spec.pools[0].process.reset();
    spec.pools[0].trace = &trace;
    EXPECT_NEAR(one_run(spec, "spot_only").time.lost / kSecond, 880, 1e-6);
}

}  // namespace
}  // namespace trainyard::spot

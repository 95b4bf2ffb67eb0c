#include "trainyard/spot/cases.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

#include "trainyard/base/random.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::spot {
namespace {

constexpr const char* kShared = "../shared/data/spot/";
constexpr CasePrices kPrices;

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TickTrace trace_of(const std::string& zone) {
    const std::string path = std::string(kShared) +
                             "skypilot-spot-traces/availability/1-node/aws-02-15-2023/" + zone +
                             "_v100_1.json";
    const auto set = import_trace(read_text(path), path, {.convention = Convention::available});
    if (!set) {
        ADD_FAILURE() << format(set.error().diagnostics);
        return TickTrace(kSecond, {0});
    }
    return TickTrace(set->pools.front());
}

// All published rows: the costs to a millionth of a dollar, the counts exactly, and the whole file
// but for its carriage returns. Measured with the original simulators.
TEST(Cases, ReproduceThePublishedTable) {
    const std::string path = std::string(kShared) + "up_baseline_expected.csv";
    std::string text = read_text(path);
    if (text.empty()) GTEST_SKIP() << path << " is not here";
    std::erase(text, '\r');
    const auto table = doc::parse_csv(text, path);
    const auto cases = read_cases(text, path);
    ASSERT_TRUE(table.has_value() && cases.has_value());
    ASSERT_EQ(cases->size(), 840U);
    std::map<std::string, TickTrace> traces;
    std::vector<CaseResult> results;
    for (std::size_t i = 0; i < cases->size(); ++i) {
        const Case& c = (*cases)[i];
        if (!traces.contains(c.zone)) traces.emplace(c.zone, trace_of(c.zone));
        const TickTrace& trace = traces.at(c.zone);
        results.push_back(play_case(c, trace, kPrices));
        EXPECT_NEAR(results.back().cost_usd, *parse_number(table->cell(i, "cost_usd")), 1e-6);
        EXPECT_EQ(play_case_by_ticks(c, trace, kPrices, *make_policy(c.policy)), results.back())
            << "line " << c.line;
    }
    EXPECT_EQ(case_table_header() + case_table_rows(*cases, results), text);
}

std::string words(const Case& c, const CaseResult& r) {
    return fmt::format(
        "{} task {} deadline {} overhead {}: {} $ {} spot {} od {} ticks {} launches", c.policy,
        c.task_h, c.deadline_h, c.overhead_h, r.cost_usd, r.spot_ticks, r.od_ticks, r.ticks,
        r.launches);
}

// The jumps against the policies asked at every tick, on random traces: no spot at all, always,
// dense changes, traces shorter than the job, deadlines that cannot be met, restarts of nothing, of
// less than a tick, of many ticks, ties (whole multiples of the tick), odd fractions of a second.
TEST(Cases, JumpsAreTicks) {
    Random random(7, 0);
    int late = 0;
    int beyond_the_end = 0;
    for (int i = 0; i < 5000; ++i) {
        const int tick_s = 1 + static_cast<int>(random.below(300));
        const double up = random.uniform() * random.uniform();
        const double change = random.chance(0.3) ? 0.5 : 0.05 * random.uniform();
        std::vector<std::uint8_t> available(1 + random.below(400));
        bool is_up = random.chance(up);
        for (std::uint8_t& a : available) {
            if (random.chance(change)) is_up = random.chance(up);
            a = is_up ? 1 : 0;
        }
        const TickTrace trace(tick_s * kSecond, available);
        const double tick_h = tick_s / 3600.0;
        const bool is_whole = random.chance(0.5);
        const auto ticks = [&](double most) {
            const double n = most * random.uniform();
            return (is_whole ? std::round(n) : n) * tick_h;
        };
        Case c;
        c.task_h = ticks(200) + tick_h;
        c.overhead_h = random.chance(0.2) ? 0 : ticks(random.chance(0.3) ? 20 : 3);
        c.deadline_h = c.task_h * (random.chance(0.1) ? 0.5 : 1) + ticks(200);
        c.start_tick = static_cast<int>(random.below(static_cast<std::uint32_t>(trace.size())));
        for (const char* policy : {"up", "up_nohyst", "greedy", "on_demand"}) {
            c.policy = policy;
            const CaseResult jumps = play_case(c, trace, kPrices);
            const CaseResult naive = play_case_by_ticks(c, trace, kPrices, *make_policy(policy));
            ASSERT_EQ(jumps, naive) << i << ": " << words(c, jumps) << " | " << words(c, naive);
            const bool is_late = jumps.finish_h > c.deadline_h + 1e-9;
            ASSERT_EQ(is_late, must_be_late(c, trace.tick())) << i << ": " << words(c, jumps);
            late += is_late ? 1 : 0;
            beyond_the_end += c.start_tick + jumps.ticks > trace.size() ? 1 : 0;
        }
    }
    EXPECT_GT(late, 500);  // so the odd cases were there
    EXPECT_GT(beyond_the_end, 500);
}

// By hand: 10 s ticks, 30 s of work, 60 s to go, a restart of 5 s. Greedy waits; at tick 2 the work
// left and one restart (35 s, 4 ticks) fill the 4 ticks left: on demand, 5 + 10 + 10 + 5 s of work.
TEST(Cases, GreedyByHand) {
    const TickTrace never(10 * kSecond, {0, 0, 0, 0, 0, 0});
    const Case c{.zone = "z",
                 .task_h = 30 / 3600.0,
                 .deadline_h = 60 / 3600.0,
                 .overhead_h = 5 / 3600.0,
                 .policy = "greedy"};
    const CaseResult r = play_case(c, never, kPrices);
    EXPECT_EQ(r.spot_ticks, 0);
    EXPECT_EQ(r.od_ticks, 4);
    EXPECT_EQ(r.ticks, 7);
    EXPECT_EQ(r.launches, 1);
    EXPECT_DOUBLE_EQ(r.cost_usd, 4 * 10 / 3600.0 * 3.06);
    EXPECT_DOUBLE_EQ(r.finish_h, 60 / 3600.0);
}

TEST(Cases, WorkThatCannotBeInTimeRunsOnDemandAtOnce) {
    const TickTrace always(10 * kSecond, std::vector<std::uint8_t>(100, 1));
    Case c{.zone = "z",
           .task_h = 100 / 3600.0,
           .deadline_h = 50 / 3600.0,
           .overhead_h = 10 / 3600.0,
           .policy = ""};
    for (const char* policy : {"up", "up_nohyst", "greedy", "on_demand"}) {
        c.policy = policy;
        const CaseResult r = play_case(c, always, kPrices);
        EXPECT_EQ(r.od_ticks, 11) << policy;
        EXPECT_EQ(r.spot_ticks, 0) << policy;
        EXPECT_DOUBLE_EQ(r.finish_h, 110 / 3600.0) << policy;
    }
}

}  // namespace
}  // namespace trainyard::spot

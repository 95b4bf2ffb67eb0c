#include "optimal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "trainyard/base/random.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/spot/cases.hpp"

namespace trainyard::spot {
namespace {

constexpr CasePrices kPrices;

struct Small {
    int tick_s = 10;
    int work_s = 0;
    int restart_s = 0;
    int ticks = 0;  ///< until the deadline
    std::vector<std::uint8_t> available;

    bool spot_at(int tick) const {
        return tick < static_cast<int>(available.size()) &&
               available[static_cast<std::size_t>(tick)] != 0;
    }
    CaseResult optimum() const {
        Case c{.zone = "z",
               .task_h = work_s / 3600.0,
               .deadline_h = ticks * tick_s / 3600.0,
               .overhead_h = restart_s / 3600.0,
               .policy = "optimal"};
        return play_case(c, TickTrace(tick_s * kSecond, available), kPrices);
    }
};

/// The rules again, on whole seconds and without any thought: every action at every tick.
struct State {
    int done = 0;
    int held = 0;  ///< 0 none, 1 spot, 2 on demand
    int overhead = 0;
    auto operator<=>(const State&) const = default;
};

State after(State s, const Small& job, int tick, int action) {
    if (s.held == 1 && !job.spot_at(tick)) s.held = 0;
    if (action != 0 && action != s.held) s.overhead = job.restart_s;
    s.held = action;
    if (action == 0) return s;
    const int useful = std::max(job.tick_s - s.overhead, 0);
    s.overhead -= job.tick_s - useful;
    s.done = std::min(s.done + useful, job.work_s);
    return s;
}

double tick_price(const Small& job, int action) {
    return action == 0 ? 0 : (action == 1 ? kPrices.spot : kPrices.on_demand) * job.tick_s / 3600.0;
}

/// Every state that can be reached, tick by tick, with its least cost.
double least_cost(const Small& job) {
    std::map<State, double> now = {{State{}, 0.0}};
    double best = std::numeric_limits<double>::infinity();
    for (int tick = 0; tick < job.ticks; ++tick) {
        std::map<State, double> next;
        for (const auto& [state, cost] : now) {
            for (int action = 0; action < 3; ++action) {
                if (action == 1 && !job.spot_at(tick)) continue;
                const State s = after(state, job, tick, action);
                const double paid = cost + tick_price(job, action);
                if (s.done >= job.work_s) {
                    best = std::min(best, paid);
                } else {
                    const auto [at, is_new] = next.try_emplace(s, paid);
                    if (!is_new) at->second = std::min(at->second, paid);
                }
            }
        }
        now = std::move(next);
    }
    return best;
}

Small random_small(Random& random, int most_ticks, bool is_dense) {
    Small job;
    job.tick_s = 2 + static_cast<int>(random.below(6));
    const double up = random.uniform();
    const double change = is_dense ? 1 : 0.4 * random.uniform();
    bool is_up = random.chance(up);
    job.ticks = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(most_ticks)));
    for (int i = 0; i < job.ticks; ++i) {
        if (random.chance(change)) is_up = random.chance(up);
        job.available.push_back(is_up ? 1 : 0);
    }
    if (random.chance(0.2)) job.available.resize(1 + job.available.size() / 2);
    job.restart_s = static_cast<int>(random.below(static_cast<std::uint32_t>(3 * job.tick_s)));
    job.work_s =
        1 + static_cast<int>(random.below(static_cast<std::uint32_t>(job.ticks * job.tick_s)));
    return job;
}

void expect_optimal(const Small& job, int number) {
    const double least = least_cost(job);
    const CaseResult r = job.optimum();
    std::string trace;
    for (const std::uint8_t a : job.available) trace += a != 0 ? '1' : '0';
    const std::string words =
        fmt::format("{}: tick {} s, work {} s, restart {} s, {} ticks, {}", number, job.tick_s,
                    job.work_s, job.restart_s, job.ticks, trace);
    if (std::isinf(least)) {
        EXPECT_EQ(r.spot_ticks, 0) << words;
        EXPECT_EQ(r.launches, 1) << words;
        EXPECT_GE(r.ticks, job.ticks) << words;
        return;
    }
    ASSERT_NEAR(r.cost_usd, least, 1e-9) << words;
    ASSERT_NEAR(r.work_done_s, job.work_s, 0.001) << words;
    ASSERT_LE(r.ticks - 1, job.ticks) << words;
}

TEST(Optimal, IsTheLeastOfAllSchedules) {
    Random random(11, 0);
    for (int i = 0; i < 3000; ++i) {
        expect_optimal(random_small(random, 12, i % 2 == 0), i);
        if (HasFatalFailure()) return;
    }
}

TEST(Optimal, IsTheLeastOfAllSchedulesOnLongerTraces) {
    Random random(12, 0);
    for (int i = 0; i < 150; ++i) {
        expect_optimal(random_small(random, 60, i % 3 == 0), i);
        if (HasFatalFailure()) return;
    }
}

// By hand: 10 s ticks, restarts of 5 s, 40 s of work, 8 ticks, spot in ticks 0-1 and 4-5: 15 s of
// work each. The other 10 s and a third restart need two ticks on demand.
TEST(Optimal, ByHand) {
    Small job;
    job.work_s = 40;
    job.restart_s = 5;
    job.ticks = 8;
    job.available = {1, 1, 0, 0, 1, 1, 0, 0};
    const CaseResult r = job.optimum();
    EXPECT_EQ(r.spot_ticks, 4);
    EXPECT_EQ(r.od_ticks, 2);
    EXPECT_EQ(r.launches, 3);
}

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// A dynamic programme over units of 15 s (3 s where the restart is 72 s) computed the table, adding
// tick after tick in single precision: 894 spot ticks are 47.1224 and stand there as 47.1229, which
// is the float sum. Up to 1,000 additions below 256, each rounded by at most 2^-17 / 2.
TEST(Optimal, ReproducesThePublishedTable) {
    const std::string folder = "../shared/data/spot/";
    const std::string text = read_text(folder + "oracle_optimal.csv");
    if (text.empty()) GTEST_SKIP() << "oracle_optimal.csv is not here";
    const auto table = doc::parse_csv(text, "oracle_optimal.csv");
    ASSERT_TRUE(table.has_value());
    ASSERT_EQ(table->size(), 280U);
    std::map<std::string, TickTrace> traces;
    constexpr double kRounding = 0.5e-4 + 1000 * 0x1p-18;
    for (std::size_t i = 0; i < table->size(); ++i) {
        const auto number = [&](const char* column) {
            return *parse_number(table->cell(i, column));
        };
        Case c{.zone = std::string(table->cell(i, "zone")),
               .start_tick = static_cast<int>(number("start_tick")),
               .task_h = number("task_h"),
               .deadline_h = number("deadline_h"),
               .overhead_h = number("overhead_h"),
               .policy = "optimal"};
        if (!traces.contains(c.zone)) {
            const std::string path = folder +
                                     "skypilot-spot-traces/availability/1-node/aws-02-15-2023/" +
                                     c.zone + "_v100_1.json";
            const auto set =
                import_trace(read_text(path), path, {.convention = Convention::available});
            ASSERT_TRUE(set.has_value());
            traces.emplace(c.zone, TickTrace(set->pools.front()));
        }
        const CaseResult r = play_case(c, traces.at(c.zone), kPrices);
        EXPECT_NEAR(r.cost_usd, number("optimal_cost_usd"), kRounding) << "line " << table->line(i);
        EXPECT_LE(r.finish_h, c.deadline_h);
    }
}

}  // namespace
}  // namespace trainyard::spot

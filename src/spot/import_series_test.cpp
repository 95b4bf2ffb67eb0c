#include <gtest/gtest.h>

#include "trainyard/spot/trace.hpp"

namespace trainyard::spot {
namespace {

Error error_of(std::string_view text, const ImportOptions& options = {}) {
    auto set = import_trace(text, "us-west-2a_v100_1.json", options);
    EXPECT_FALSE(set.has_value());
    return set ? Error{} : set.error();
}

TEST(ImportSeries, MergesEqualSamples) {
    auto set = import_trace(R"({"metadata": {"gap_seconds": 600}, "data": [1, 1, 0, 0, 1]})",
                            "availability/1-node/us-west-2a_v100_1.json", {});
    ASSERT_TRUE(set);
    ASSERT_EQ(set->pools.size(), 1U);
    const PoolTrace& pool = set->pools[0];
    EXPECT_EQ(pool.pool, "us-west-2a_v100_1");
    EXPECT_EQ(pool.zone, "us-west-2a");
    EXPECT_EQ(pool.capacity, 1);
    EXPECT_EQ(pool.observation, Observation::probe);
    EXPECT_EQ(pool.tick / kSecond, 600);
    EXPECT_EQ(pool.end / kSecond, 3000);
    EXPECT_EQ(pool.start, (std::vector<double>{0, 1200, 2400}));
    EXPECT_EQ(pool.nodes, (std::vector<int>{1, 0, 1}));
    ASSERT_EQ(set->notes.size(), 1U);
    EXPECT_EQ(set->notes[0].what, "1 is read as available");
}

TEST(ImportSeries, TheUsersWordInverts) {
    auto set = import_trace(R"({"metadata": {"gap_seconds": 600}, "data": [1, 0]})", "a.json",
                            {.convention = Convention::preempted});
    ASSERT_TRUE(set);
    EXPECT_EQ(set->pools[0].nodes, (std::vector<int>{0, 1}));
}

TEST(ImportSeries, FilesConvertedForASimulatorAreInverted) {
    auto set = import_trace(
        R"({"metadata": {"gap_seconds": 600, "start_time": "2025-10-04T00:10:00+00:00",
            "price_info": {"price": 1}}, "data": [1, 0, 0], "prices": [1.5, 1.5, 2]})",
        "us-central1-a_h100_16/full.json", {});
    ASSERT_TRUE(set);
    const PoolTrace& pool = set->pools[0];
    EXPECT_EQ(pool.pool, "us-central1-a_h100_16");
    EXPECT_EQ(pool.zone, "us-central1-a");
    EXPECT_EQ(pool.nodes, (std::vector<int>{0, 1}));
    EXPECT_EQ(pool.price_start, (std::vector<double>{0, 1200}));
    EXPECT_EQ(pool.price, (std::vector<double>{1.5, 2}));
    EXPECT_EQ(pool.first_utc, 1759536600);  // date -d 2025-10-04T00:10:00Z +%s
}

TEST(ImportSeries, CountsOfNodesAreNotInverted) {
    constexpr std::string_view kText = R"({"metadata": {"gap_seconds": 300}, "data": [0, 3]})";
    auto set = import_trace(kText, "preemption/4-node/us-east-1f_v100_1.json", {});
    ASSERT_TRUE(set);
    EXPECT_EQ(set->pools[0].capacity, 4);
    EXPECT_EQ(set->pools[0].observation, Observation::kept_alive);
    const Error error = error_of(kText, {.convention = Convention::preempted});
    ASSERT_EQ(error.diagnostics.size(), 1U);
    EXPECT_EQ(error.diagnostics[0].where.column, 48);  // of the 3
}

TEST(ImportSeries, OneDiagnosticWithThePlace) {
    struct Bad {
        std::string_view text;
        int line;
        int column;
    };
    const Bad all[] = {
        {"", 1, 1},
        {"{\"metadata\": {\"gap_seconds\": 600}, \"data\": [1, 1", 1, 49},
        {"{\"metadata\": {\"gap_seconds\": 600},\n \"data\": [1, -1]}", 2, 14},
        {"{\"metadata\": {\"gap_seconds\": 600},\n \"data\": [1, 0.5]}", 2, 14},
        {"{\"metadata\": {\"gap_seconds\": 600},\n \"data\": [1, null]}", 2, 14},
        {"{\"metadata\": {\"gap_seconds\": 0},\n \"data\": [1]}", 1, 30},
        {"{\"metadata\": {\"gap_seconds\": 1e-300},\n \"data\": [1, 0]}", 1, 30},
        {"{\"metadata\": {\"gap_seconds\": 0.001},\n \"data\": [1, 0]}", 1, 30},
        {"{\"metadata\": {\"gap_seconds\": 0.999},\n \"data\": [1, 0]}", 1, 30},
        {"{\"metadata\": {\"gap_seconds\": 1e9},\n \"data\": [1, 0]}", 1, 30},
        {"{\"metadata\": {},\n \"data\": [1]}", 1, 1},
        {"{\"metadata\": {\"gap_seconds\": 600},\n \"data\": []}", 2, 10},
        {"{\"metadata\": {\"gap_seconds\": 600},\n \"data\": [1],\n\"prices\": [-2]}", 3, 12},
        {"{\"metadata\": {\"gap_seconds\": 600},\n \"data\": [1],\n\"prices\": [2, 3]}", 3, 11},
        {"{\"date\": 1}", 1, 1},
        {"hello", 1, 1},
    };
    for (const Bad& bad : all) {
        const Error error = error_of(bad.text);
        ASSERT_EQ(error.diagnostics.size(), 1U) << bad.text;
        EXPECT_EQ(error.kind, ErrorKind::bad_input);
        EXPECT_EQ(error.diagnostics[0].where.line, bad.line) << bad.text;
        EXPECT_EQ(error.diagnostics[0].where.column, bad.column) << bad.text;
    }
}

}  // namespace
}  // namespace trainyard::spot

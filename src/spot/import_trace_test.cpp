#include "trainyard/spot/trace.hpp"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::spot {
namespace {

TraceSet read(std::string_view text, std::string_view file, const ImportOptions& options = {}) {
    auto set = import_trace(text, file, options);
    if (!set) {
        ADD_FAILURE() << format(set.error().diagnostics);
        return {};
    }
    return std::move(*set);
}

void expect_series(const PoolTrace& pool, const std::vector<double>& start,
                   const std::vector<int>& nodes, double end) {
    EXPECT_EQ(pool.start, start);
    EXPECT_EQ(pool.nodes, nodes);
    EXPECT_EQ(pool.end / kSecond, end);
}

TEST(ImportTrace, NodeEvents) {
    const auto set =
        read("0,add,node1\n0,add,node2\n60000,remove,node1\n90000,add,node1\n", "p3-trace.csv");
    ASSERT_EQ(set.pools.size(), 1U);
    EXPECT_EQ(set.pools[0].capacity, 2);
    EXPECT_EQ(set.pools[0].observation, Observation::events);
    expect_series(set.pools[0], {0, 60, 90}, {2, 1, 2}, 90);
}

TEST(ImportTrace, NodeEventsBeginWithNoNodes) {
    const auto set = read("480000,add,node1\n600000,remove,node1\n", "g4dn-trace.csv");
    expect_series(set.pools.at(0), {0, 480, 600}, {0, 1, 0}, 600);
}

TEST(ImportTrace, NodeEventsAsJsonLines) {
    const auto set = read(
        "[0, \"add\", {\"nodes\": [\"a\", \"b\"], \"duration\": 60000}]\n"
        "[60000, \"no-op\", {\"nodes\": [], \"duration\": 60000}]\n"
        "[120000, \"remove\", {\"nodes\": [\"b\"], \"duration\": 60000}]\n",
        "trace_hh.txt");
    expect_series(set.pools.at(0), {0, 120}, {2, 1}, 180);
}

TEST(ImportTrace, StepsInThreeUnits) {
    expect_series(read("0,0\n25435,0\n25435,2\n25529,2\n", "a.csv").pools.at(0), {0, 25435}, {0, 2},
                  25529);
    expect_series(read("0,1\n0,2\n60000,1\n", "a.csv").pools.at(0), {0, 60}, {2, 1}, 60);
    expect_series(read("0.0,1\n0.5,2\n", "a.csv").pools.at(0), {0, 1800}, {1, 2}, 1800);
    expect_series(read("0,1\n60,2\n", "a.csv", {.time_unit = kMinute}).pools.at(0), {0, 3600},
                  {1, 2}, 3600);
}

TEST(ImportTrace, DatedStepsMayInterleave) {
    const auto set = read(
        "2021-12-10, 13:07:45, 80\n2021-12-10, 13:09:45, 80\n2021-12-10, 13:08:45, 70\n", "v.txt");
    expect_series(set.pools.at(0), {0, 120}, {80, 70}, 120);
    EXPECT_EQ(set.pools[0].first_utc, 1639141665);  // date -d 2021-12-10T13:07:45Z +%s
    EXPECT_EQ(set.notes.size(), 2U);
}

TEST(ImportTrace, GpuCounts) {
    const auto set = read(R"([{"Time": 0, "GPUs": 4}, {"Time": 63, "GPUs": 3}])", "a100.json");
    expect_series(set.pools.at(0), {0, 63}, {4, 3}, 63);
}

TEST(ImportTrace, InstanceLog) {
    const auto set = read(
        "[2020-03-15T10:00:00.000Z] Created instance i-1 with 1 GPU(s) of type v100 in zone "
        "us-east-1b\n"
        "[2020-03-15T10:10:00.000Z] Instance i-1 running in zone us-east-1b\n"
        "[2020-03-15T10:10:30.000Z] Instance with 8 GPU(s) of type k80 creation failed\n"
        "[2020-03-15T10:20:00.000Z] Instance i-1 not running in zone us-east-1b\n"
        "[2020-03-15T10:20:10.000Z] Successfully deleted instance i-1\n"
        "[2020-03-15T10:30:00.000Z] Created instance i-2 with 1 GPU(s) of type v100 in zone "
        "us-east-1b\n"
        "[2020-03-15T11:00:00.000Z] Instance i-2 running in zone us-east-1b\n",
        "persistent.out");
    ASSERT_EQ(set.pools.size(), 1U);
    EXPECT_EQ(set.pools[0].pool, "us-east-1b_v100_1");
    EXPECT_EQ(set.pools[0].observation, Observation::kept_alive);
    expect_series(set.pools[0], {0, 1200, 1800}, {1, 0, 1}, 3600);
}

TEST(ImportTrace, ProbeRounds) {
    const auto set = read(
        "scheduled_at,status,us-east4-a:created,us-east4-b:created,us-east4-a:exhausted\n"
        "2025-10-03T17:00:00.002281-07:00,success,16,5,0\n"
        "2025-10-03T17:10:00.002281-07:00,success,16,0,0\n"
        "2025-10-03T17:20:00.002281-07:00,failed,0,0,0\n"
        "2025-10-03T17:30:00.002281-07:00,success,3,0,13\n"
        "2025-10-03T17:40:00.002281-07:00,success,3,0,13\n",
        "probes.csv");
    ASSERT_EQ(set.pools.size(), 2U);
    EXPECT_EQ(set.pools[1].pool, "us-east4-b");
    EXPECT_EQ(set.pools[1].capacity, 16);
    EXPECT_EQ(set.pools[0].tick / kSecond, 600);
    EXPECT_EQ(set.pools[0].nodes, (std::vector<int>{16, 3}));
    EXPECT_NEAR(set.pools[0].start.at(1), 1800, 1e-3);
    EXPECT_EQ(set.pools[0].first_utc, 1759536000);  // 2025-10-04T00:00:00Z
    EXPECT_EQ(set.notes.size(), 3U);                // asked for, gap, failed round
}

TEST(ImportTrace, AwsPrices) {
    const auto set = read(
        R"({"SpotPriceHistory": [
          {"AvailabilityZone": "us-east-2a", "InstanceType": "p3.2xlarge",
           "ProductDescription": "Linux/UNIX", "SpotPrice": "0.94",
           "Timestamp": "2020-03-23T10:00:00Z"},
          {"AvailabilityZone": "us-east-2a", "InstanceType": "p3.2xlarge",
           "ProductDescription": "Windows", "SpotPrice": "9", "Timestamp": "2020-03-23T09:30:00Z"},
          {"AvailabilityZone": "us-east-2a", "InstanceType": "p3.2xlarge",
           "ProductDescription": "Linux/UNIX", "SpotPrice": "0.93",
           "Timestamp": "2020-03-23T09:00:00Z"}]})",
        "prices.json");
    ASSERT_EQ(set.prices.size(), 1U);
    EXPECT_EQ(set.prices[0].name, "us-east-2a_p3.2xlarge");
    EXPECT_EQ(set.prices[0].start, (std::vector<double>{0, 3600}));
    EXPECT_EQ(set.prices[0].price, (std::vector<double>{0.93, 0.94}));
}

TEST(ImportTrace, PriceListsAndTheirPools) {
    auto set = read(R"({"us-west-2a_v100_1": [1, 1, 2], "us-east-1a_v100_1": [3, 3, 3]})",
                    "prices.json", {.tick = 600 * kSecond});
    ASSERT_EQ(set.prices.size(), 2U);
    EXPECT_EQ(set.prices[0].start, (std::vector<double>{0, 1200}));
    auto pools =
        read(R"({"metadata": {"gap_seconds": 600}, "data": [1, 1, 0]})", "us-west-2a_v100_1.json");
    set.pools = pools.pools;
    attach_prices(set);
    EXPECT_EQ(set.pools[0].price, (std::vector<double>{1, 2}));
}

TEST(ImportTrace, OnePriceOfGoogleAndATableOfAzure) {
    const auto google = read(
        R"({"region": "us-east4", "machine_type": "a3-highgpu-8g", "price": 14.85})", "g.json");
    EXPECT_EQ(google.prices.at(0).name, "us-east4_a3-highgpu-8g");
    const auto azure =
        read("Date,NC6,NC12\n2/24/2020,$0.12,$0.24\n2/25/2020,$0.12,$0.25\n", "us_east.csv");
    ASSERT_EQ(azure.prices.size(), 2U);
    EXPECT_EQ(azure.prices[1].start, (std::vector<double>{0, 86400}));
}

TEST(ImportTrace, OurOwnFormatReadsBackTheSame) {
    auto set = read(
        R"({"metadata": {"gap_seconds": 195, "start_time": "2025-10-04T00:10:00+00:00"},
            "data": [1, 1, 0, 4], "prices": [0.9180, 0.95, 0.95, 0.1]})",
        "preemption/us-west-2a_v100_1.json");
    set.pools.push_back(read("0.1,1\n0.5,2\n0.7,2\n", "odd \"name\", with.csv").pools.at(0));
    const std::string text = write_trace_csv(set);
    const auto again = read(text, "again.csv");
    ASSERT_EQ(again.pools.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        const PoolTrace& a = set.pools[i];
        const PoolTrace& b = again.pools[i];
        EXPECT_EQ(a.pool, b.pool);
        EXPECT_EQ(a.zone, b.zone);
        EXPECT_EQ(a.capacity, b.capacity);
        EXPECT_EQ(a.observation, b.observation);
        EXPECT_EQ(a.tick, b.tick);
        EXPECT_EQ(a.end, b.end);
        EXPECT_EQ(a.first_utc, b.first_utc);
        EXPECT_EQ(a.start, b.start);
        EXPECT_EQ(a.nodes, b.nodes);
        EXPECT_EQ(a.price_start, b.price_start);
        EXPECT_EQ(a.price, b.price);
    }
    EXPECT_EQ(write_trace_csv(again), text);
}

struct Bad {
    std::string_view text;
    int line;
    int column;
};

TEST(ImportTrace, OneDiagnosticWithThePlace) {
    constexpr std::string_view kOwn =
        "pool,zone,capacity,observation,tick_s,first_utc,time_s,nodes,usd_per_hour\n";
    const std::string own(kOwn);
    const std::string zero = own + "a,,0,probe,60,0,0,0,\n";
    const std::string half = own + "a,,1,probe,0.5,0,0,1,\na,,,,,,60,0,\n";
    const std::string back = own + "a,,1,probe,60,0,0,1,\na,,,,,,60,0,\na,,,,,,60,1,\n";
    const std::string price = own + "a,,1,probe,60,0,0,1,-1\na,,,,,,60,,\n";
    const std::string endless = own + "a,,1,probe,60,0,0,1,\n";
    const std::string split = own +
                              "a,,1,probe,60,0,0,1,\na,,,,,,60,,\nb,,1,probe,60,0,0,1,\n"
                              "b,,,,,,60,,\na,,1,probe,60,0,0,1,\n";
    const Bad all[] = {
        {" \n \n", 1, 1},
        {"0,add,node1\n1,remove,node1\n2,add,node1\n", 1, 1},  // 2 changes in 2 ms
        {"0.0001,1\n0.0002,0\n0.0003,1\n", 1, 1},              // 3 in 1.08 s
        {"{\"SpotPriceHistory\": []}", 1, 22},
        {"{\"prices\": [1, 2], \"gap_seconds\": 0.001}", 1, 35},
        {half, 2, 12},
        {"0,add,node1\n60000,add,node1\n", 2, 11},
        {"0,add,node1\n60000,remove,node2\n", 2, 14},
        {"60,add,node1\n0,add,node2\n", 2, 1},
        {"0,add,node1\n60000,drop,node1\n", 2, 7},
        {"0,add,node1\n60000,add\n", 2, 1},
        {"-5,add,node1\n", 1, 1},
        {"[0, \"add\", {\"nodes\": [\"a\"]}]\n[60000, \"add\", {\"nodes\": [\"b\"\n", 2, 30},
        {"[0, \"stop\", {\"nodes\": [\"a\"]}]\n", 1, 1},
        {"0,0\n10,0\n", 1, 1},
        {"0,1\n10,-1\n", 2, 4},
        {"0,1\n10,1.5\n", 2, 4},
        {"10,1\n5,1\n", 2, 1},
        {"0,1\nlater,1\n", 2, 1},
        {"2021-12-10, 13:07:45, 80\n2021-12-10, 12:07:45, 80\n", 2, 1},
        {"2021-12-10, 13:07:45, 80\n2021-12-10, 33:07:45, 80\n", 2, 1},
        {"2021-12-10, 13:07:45, 80\n2021-12-10, 13:08:45\n", 2, 1},
        {"[{\"Time\": 0, \"GPUs\": 1},\n {\"Time\": 0, \"GPUs\": 2}]", 2, 11},
        {"[{\"Time\": 0, \"GPUs\": 1},\n {\"Time\": 5, \"GPUs\": -2}]", 2, 2},
        {"[2020-03-15T10:00:00.000Z] nothing\nhello\n", 2, 1},
        {"[2020-03-15T10:00:00.000Z] nothing\n", 1, 1},
        {"scheduled_at,status,a:created\n2025-10-03T17:00:00Z,success,1\n"
         "2025-10-03T17:00:00Z,success,1\n",
         3, 1},
        {"scheduled_at,status,a:created\n2025-10-03T17:00:00Z,success,1\n"
         "2025-10-03T17:10:00Z,success,x\n",
         3, 30},
        {"scheduled_at,status,a:created\n2025-10-03T17:00:00Z,success,1\n", 1, 1},
        {"{\"SpotPriceHistory\": [\n{\"AvailabilityZone\": \"a\", \"InstanceType\": \"b\", "
         "\"SpotPrice\": \"-1\", \"Timestamp\": \"2020-03-23T10:00:00Z\"}]}",
         2, 61},
        {"{\"spot_advisor\": {}}", 1, 1},
        {"\x1f\x8b\x08", 1, 1},
        {"0,1\n\xff,1\n", 2, 1},
        {"Date,NC6\n2/24/2020\n2/25/2020\n", 2, 1},
        {zero, 2, 4},
        {back, 4, 8},
        {price, 2, 21},
        {endless, 2, 17},
        {split, 6, 1},
        {"pool,time_s\na,0\n", 1, 1},
    };
    for (const Bad& bad : all) {
        auto set = import_trace(bad.text, "input", {});
        ASSERT_FALSE(set.has_value()) << bad.text;
        ASSERT_EQ(set.error().diagnostics.size(), 1U) << bad.text;
        const Diagnostic& d = set.error().diagnostics[0];
        EXPECT_EQ(d.where.line, bad.line) << bad.text << format(d);
        EXPECT_EQ(d.where.column, bad.column) << bad.text << format(d);
    }
}

TEST(ImportTrace, ALargeTextIsRefusedBySize) {
    const std::string large(kMaxTraceBytes + 1, '1');
    auto set = import_trace(large, "large.csv", {});
    ASSERT_FALSE(set.has_value());
    EXPECT_NE(set.error().diagnostics.at(0).what.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::spot

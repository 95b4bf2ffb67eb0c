// The tables of a page of statistics made by another program from the same published traces, where
// that collection is present beside the repository. Tolerances are half a unit of the last printed
// digit, unless stated.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "trainyard/base/text.hpp"
#include "trainyard/spot/stats.hpp"

namespace trainyard::spot {
namespace {

const std::string kPage = "../shared/facts/spot-stats.md";
const std::string kData = "../shared/data/spot/";

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

using Row = std::vector<std::string>;

/// Cells of a line of a Markdown table; empty if it is none.
Row cells_of(std::string_view line) {
    if (!line.starts_with('|')) return {};
    Row cells;
    for (std::string_view cell : split(line.substr(1, line.rfind('|') - 1), '|'))
        cells.emplace_back(trim(cell));
    return cells;
}

TraceSet traces(const std::string& path, const ImportOptions& options = {}) {
    const std::string text = read_file(path);
    if (text.empty()) return {};
    auto set = import_trace(text, path, options);
    if (!set) {
        ADD_FAILURE() << format(set.error().diagnostics);
        return {};
    }
    return std::move(*set);
}

class PublishedTraces : public testing::Test {
  protected:
    void SetUp() override {
        page_ = read_file(kPage);
        if (page_.empty()) GTEST_SKIP() << kPage << " is not here";
    }

    /// The rows of all tables under headings that contain `heading`.
    std::vector<Row> rows(std::string_view heading) const {
        std::vector<Row> out;
        bool inside = false;
        for (std::string_view line : split(page_, '\n')) {
            if (line.starts_with('#')) inside = line.find(heading) != std::string_view::npos;
            if (inside && line.starts_with('|')) out.push_back(cells_of(line));
        }
        return out;
    }

    std::string page_;
};

double number(const std::string& cell) { return parse_number(cell).value_or(std::nan("")); }

/// Expects a printed number: within half a unit of its last digit, and what `more` allows.
void expect_printed(double value, const std::string& cell, const std::string& what,
                    double more = 0) {
    if (cell == "nan") return;
    const std::size_t point = cell.find('.');
    const double digits =
        point == std::string::npos ? 0 : static_cast<double>(cell.size() - point - 1);
    EXPECT_NEAR(value, number(cell), 0.5001 * std::pow(10, -digits) + more) << what;
}

// 28 rows on the page; the traces of some zones may be missing beside it.
TEST_F(PublishedTraces, TablesOfOneNode) {
    int compared = 0;
    std::string folder;
    for (std::string_view line : split(page_, '\n')) {
        if (line.starts_with("`availability/") || line.starts_with("`preemption/"))
            folder = line.substr(1, line.rfind('`') - 1);
        const Row row = cells_of(line);
        if (row.size() != 14 || folder.find("/1-node/") == std::string::npos || row[0] == "trace")
            continue;
        const auto set = traces(kData + "skypilot-spot-traces/" + folder + "/" + row[0] + ".json");
        if (set.pools.empty()) continue;
        const PoolStats s = pool_stats(set.pools[0], 0);
        const std::string& name = row[0];
        expect_printed(s.tick.base(), row[1], name);
        expect_printed(s.length / kDay, row[2], name);
        expect_printed(s.availability * 100, row[3], name);
        EXPECT_EQ(s.interruptions, number(row[4])) << name;
        expect_printed(*s.lost_per_node_day / 24, row[5], name);
        expect_printed(s.up.mean / kHour, row[6], name);
        expect_printed(s.up.median / kHour, row[7], name);
        expect_printed(s.up.p90 / kHour, row[8], name);
        expect_printed(s.up.longest / kHour, row[9], name);
        expect_printed(s.down.mean / kHour, row[10], name);
        // The page takes ticks for exact times and counts lives that the trace cut as ended.
        const auto exact = fit_weibull(lives_of(set.pools[0], 1).up, {});
        if (exact) expect_printed(exact->life.shape, row[13], name + " shape", 0.021);
        ++compared;
    }
    EXPECT_GE(compared, 20);
}

void expect_multi_node(const PoolStats& s, const Row& row, double days_more, double more) {
    const std::string& name = row[0];
    const double drops = s.drops.count;
    expect_printed(s.length / kDay, row[2], name, days_more);
    EXPECT_EQ(s.capacity, number(row[3])) << name;
    expect_printed(s.availability * s.capacity, row[4], name, more * s.capacity);
    expect_printed(s.gang_share * 100, row[5], name, 100 * more);
    expect_printed(s.none_share * 100, row[7], name, 100 * more);
    expect_printed(drops / (s.length / kHour), row[8], name, more);
    expect_printed(s.drops.nodes / drops, row[9], name);
    expect_printed(s.drops.to_zero / drops, row[10], name);
    if (s.up.count > 0) expect_printed(s.up.mean / kHour, row[11], name, 25 * more);
    EXPECT_EQ(s.interruptions, number(row[13])) << name;
}

TEST_F(PublishedTraces, TableOfManyNodes) {
    const std::map<std::string, std::string> folders = {
        {"availability", "availability/16-node/aws-08-27-2023/"},
        {"preemption", "preemption/4-node/aws-08-03-2023/"}};
    int compared = 0;
    for (const Row& row : rows("Multi-node traces")) {
        const std::size_t slash = row[0].find('/');
        if (row.size() != 14 || slash == std::string::npos) continue;
        const auto set =
            traces(kData + "skypilot-spot-traces/" + folders.at(row[0].substr(0, slash)) +
                   row[0].substr(slash + 1) + ".json");
        if (set.pools.empty()) continue;
        expect_multi_node(pool_stats(set.pools[0], 0), row, 0, 0);
        ++compared;
    }
    EXPECT_GE(compared, 6);
}

// The page counts rounds of ten minutes; the trace has a gap of 1.8 h, over which we hold the last
// value: shares move by up to 0.5 points, run lengths by up to 0.3 h.
TEST_F(PublishedTraces, TableOfLaunchProbes) {
    const auto set = traces(kData + "skynomad/h100_16_probes_compact.csv");
    int compared = 0;
    for (const Row& row : rows("Multi-node traces")) {
        if (row.size() != 14 || !row[0].starts_with("GCP H100 ")) continue;
        for (const PoolTrace& pool : set.pools) {
            if (row[0] != "GCP H100 " + pool.pool) continue;
            expect_multi_node(pool_stats(pool, 0), row, 0.08, 0.0125);
            ++compared;
        }
    }
    EXPECT_EQ(compared, set.pools.empty() ? 0 : 13);
}

TEST_F(PublishedTraces, CorrelationOfZones) {
    const std::string folder = kData + "skypilot-spot-traces/availability/1-node/aws-02-15-2023/";
    Row header;
    int compared = 0;
    for (const Row& row : rows("AWS p3.2xlarge (1×V100), 9 AZs")) {
        if (row.size() != 10) continue;
        if (row[0].empty()) header = row;
        if (header.empty() || row[0].empty() || row[0].starts_with("--")) continue;
        const auto a = traces(folder + row[0] + "_v100_1.json");
        for (std::size_t c = 1; c < row.size() && !a.pools.empty(); ++c) {
            const auto b = traces(folder + header[c] + "_v100_1.json");
            if (b.pools.empty() || header[c] == row[0]) continue;
            const auto groups = zone_groups({a.pools[0], b.pools[0]}, 0);
            ASSERT_EQ(groups.size(), 1U);
            expect_printed(groups[0].correlation[0][1], row[c], row[0] + " " + header[c]);
            ++compared;
        }
    }
    EXPECT_GE(compared, 42);
}

TEST_F(PublishedTraces, EventFiles) {
    const std::map<std::string, std::string> files = {
        {"bamboo p3-trace", "bamboo/traces/p3-trace.csv"},
        {"bamboo g4dn-trace", "bamboo/traces/g4dn-trace.csv"},
        {"parcae liveput p3trace", "parcae/liveput/traces/p3trace.csv"},
        {"parcae trace_hh_55_65", "parcae/aws/traces/bert/trace_hh_55_65.txt"},
        {"parcae trace_hl_15_25", "parcae/aws/traces/bert/trace_hl_15_25.txt"},
        {"parcae trace_lh_80_90", "parcae/aws/traces/bert/trace_lh_80_90.txt"},
        {"parcae trace_ll_10_11", "parcae/aws/traces/bert/trace_ll_10_11.txt"}};
    int compared = 0;
    for (const Row& row : rows("Node-level add/remove")) {
        const auto file = files.find(row[0]);
        if (row.size() != 11 || file == files.end()) continue;
        const auto set = traces(kData + file->second);
        if (set.pools.empty()) continue;
        const PoolStats s = pool_stats(set.pools[0], 0);
        // The segments of Parcae last an hour; the page counts to the last event.
        const bool segment = row[0].starts_with("parcae trace");
        EXPECT_EQ(s.capacity, number(row[4])) << row[0];
        EXPECT_EQ(s.drops.nodes, number(row[3])) << row[0];
        if (segment) {
            EXPECT_GE(s.length / kHour + 0.005, number(row[1])) << row[0];
        } else {
            expect_printed(s.length / kHour, row[1], row[0]);
            expect_printed(s.availability * s.capacity, row[5], row[0]);
        }
        expect_printed(static_cast<double>(s.drops.nodes_in_bursts) / s.drops.nodes, row[9],
                       row[0]);
        ++compared;
    }
    EXPECT_GE(compared, 7);
}

TEST_F(PublishedTraces, InstanceLog) {
    const auto set =
        traces(kData + "training_on_a_dime/logs/aws/availability/persistent_2020-03-15.out");
    int compared = 0;
    for (const Row& row : rows("AWS per-instance lifecycle logs")) {
        if (row.size() != 9 || row[0] == "type") continue;
        const std::size_t x = row[0].find('x');
        if (x == std::string::npos) continue;
        const std::string name = row[1] + "_" + row[0].substr(x + 1) + "_" + row[0].substr(0, x);
        for (const PoolTrace& pool : set.pools) {
            if (pool.pool != name) continue;
            const PoolStats s = pool_stats(pool, 0);
            EXPECT_EQ(s.drops.nodes, number(row[3])) << name;
            expect_printed(s.availability * s.capacity * (s.length / kHour), row[5], name, 0.1);
            ++compared;
        }
    }
    EXPECT_EQ(compared, set.pools.empty() ? 0 : 8);
}

TEST_F(PublishedTraces, PricesPerTick) {
    const auto set = traces(kData + "skynomad/data/v100_spot_prices.json", {.tick = 195 * kSecond});
    int compared = 0;
    for (const Row& row : rows("Spot prices")) {
        for (const PriceSeries& series : set.prices) {
            if (row.size() != 7 || row[0] != series.name) continue;
            const PriceStats p = price_stats(series.start, series.price, series.end);
            expect_printed(p.low, row[2], row[0]);
            expect_printed(p.mean, row[3], row[0]);
            expect_printed(p.high, row[4], row[0]);
            EXPECT_EQ(p.changes, number(row[5])) << row[0];
            expect_printed(p.between_changes / kHour, row[6], row[0]);
            ++compared;
        }
    }
    EXPECT_EQ(compared, set.prices.empty() ? 0 : 9);
}

// The files of one region and type overlap; lowest and highest price of their union.
TEST_F(PublishedTraces, PriceHistoriesOfAws) {
    int compared = 0;
    for (const Row& row : rows("Spot prices")) {
        if (row.size() != 9 || !row[1].starts_with('p')) continue;
        const std::string folder = kData + "training_on_a_dime/logs/aws/cost/" + row[0] + "/";
        double low = 1e9;
        double high = 0;
        for (const char* day : {"", "2020-02-27.", "2020-03-05.", "2020-03-13.", "2020-03-23."}) {
            for (const PriceSeries& s : traces(folder + day + row[1] + ".json").prices) {
                const PriceStats p = price_stats(s.start, s.price, s.end);
                low = std::min(low, p.low);
                high = std::max(high, p.high);
            }
        }
        if (high == 0) continue;
        expect_printed(low, row[6], row[0] + " " + row[1]);
        expect_printed(high, row[8], row[0] + " " + row[1]);
        ++compared;
    }
    EXPECT_GE(compared, 12);
}

}  // namespace
}  // namespace trainyard::spot

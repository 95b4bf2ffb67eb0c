// Our own CSV format, written by `trainyard trace convert`: one line per change.
//
//     pool,zone,capacity,observation,tick_s,first_utc,time_s,nodes,usd_per_hour
//     us-west-2a_v100_1,us-west-2a,1,probe,600,0,0,1,0.918
//     us-west-2a_v100_1,,,,,,1200,0,
//     us-west-2a_v100_1,,,,,,2334000,,
//
// The first line of a pool describes it; later an empty cell means "as before". The last line of a
// pool is its end. Numbers are written in the shortest form that reads back the same.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::spot {

namespace {

constexpr std::string_view kHeader =
    "pool,zone,capacity,observation,tick_s,first_utc,time_s,nodes,usd_per_hour";
constexpr double kMaxTime = 1e12;

std::string_view name_of(Observation o) {
    switch (o) {
        case Observation::probe:
            return "probe";
        case Observation::kept_alive:
            return "kept_alive";
        case Observation::events:
            return "events";
    }
    return "";
}
std::optional<Observation> observation_of(std::string_view s) {
    for (Observation o : {Observation::probe, Observation::kept_alive, Observation::events}) {
        if (s == name_of(o)) return o;
    }
    return std::nullopt;
}

class Reader {
  public:
    explicit Reader(const doc::CsvTable& table) : table_(table) {}

    std::optional<Error> row(std::size_t row) {
        const std::string name(table_.cell(row, "pool"));
        if (name.empty()) return wrong(row, "pool", "no pool");
        if (set.pools.empty() || set.pools.back().pool != name) {
            if (auto error = finish_pool()) return error;
            if (!seen_.insert(name).second)
                return wrong(row, "pool", "the lines of a pool are not together");
            if (auto error = begin(row, name)) return error;
        }
        return change(row, set.pools.back());
    }
    std::optional<Error> finish_pool() {
        if (set.pools.empty()) return std::nullopt;
        const PoolTrace& pool = set.pools.back();
        if (pool.nodes.empty() || pool.end <= Seconds{}) {
            return refuse(table_.place(last_row_, "time_s"), "the pool has no length",
                          "the last line of a pool is its end", "add a line");
        }
        return std::nullopt;
    }

    TraceSet set;

  private:
    Error wrong(std::size_t row, const char* column, std::string what) const {
        return refuse(table_.place(row, column), std::move(what),
                      "see \"Our own format\" in docs/reference/traces.md", "correct the line");
    }
    std::optional<Error> begin(std::size_t row, const std::string& name) {
        PoolTrace pool;
        pool.pool = name;
        pool.zone = table_.cell(row, "zone");
        pool.file = table_.file();
        const auto capacity = parse_nodes(table_.cell(row, "capacity"));
        if (!capacity || *capacity == 0) return wrong(row, "capacity", "no capacity above 0");
        const auto observation = observation_of(table_.cell(row, "observation"));
        if (!observation) return wrong(row, "observation", "neither probe, kept_alive nor events");
        const auto tick = parse_number(table_.cell(row, "tick_s"));
        if (!tick || *tick > kMaxTime || (*tick != 0 && *tick < kShortestTick.base()))
            return wrong(row, "tick_s", "no interval: 0, or seconds from 1");
        const auto first = parse_number(table_.cell(row, "first_utc"));
        if (!first || *first < 0 || *first > kMaxTime) return wrong(row, "first_utc", "no time");
        pool.capacity = *capacity;
        pool.observation = *observation;
        pool.tick = *tick * kSecond;
        pool.first_utc = static_cast<std::int64_t>(*first);
        set.pools.push_back(std::move(pool));
        return std::nullopt;
    }
    std::optional<Error> change(std::size_t row, PoolTrace& pool) {
        const auto time = parse_number(table_.cell(row, "time_s"));
        const bool first = pool.start.empty();
        if (!time || *time < 0 || *time > kMaxTime) return wrong(row, "time_s", "no time");
        if (first ? *time != 0 : *time <= pool.end.base()) {
            return wrong(row, "time_s", first ? "the first time is not 0" : "time does not go on");
        }
        const std::string_view nodes = table_.cell(row, "nodes");
        if (first || !nodes.empty()) {
            const auto n = parse_nodes(nodes);
            if (!n || *n > pool.capacity)
                return wrong(row, "nodes", "no number of nodes from 0 to the capacity");
            append(pool.start, pool.nodes, *time, *n);
        }
        const std::string_view price = table_.cell(row, "usd_per_hour");
        if (!price.empty()) {
            const auto usd = parse_number(price);
            if (!usd || *usd < 0) return wrong(row, "usd_per_hour", "no price, 0 or more");
            append(pool.price_start, pool.price, *time, *usd);
        }
        pool.end = *time * kSecond;
        last_row_ = row;
        return std::nullopt;
    }

    const doc::CsvTable& table_;
    std::set<std::string> seen_;
    std::size_t last_row_ = 0;
};

/// A name is quoted if it needs to be.
std::string cell(std::string_view s) {
    if (s.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(s);
    std::string out = "\"";
    for (char c : s) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

}  // namespace

Result<TraceSet> import_own(const ImportInput& in) {
    auto table = doc::parse_csv(in.text, in.file);
    if (!table) return table.error();
    for (std::string_view column : split(kHeader, ',')) {
        if (!table->has(column)) {
            return refuse(table->header_place("pool"), fmt::format("column {} is missing", column),
                          fmt::format("the columns are {}", kHeader), "add it");
        }
    }
    Reader reader(*table);
    for (std::size_t row = 0; row < table->size(); ++row) {
        if (auto error = reader.row(row)) return *error;
    }
    if (auto error = reader.finish_pool()) return *error;
    if (reader.set.pools.empty()) {
        return refuse(table->header_place("pool"), "no lines after the header", "",
                      "give a trace with at least one pool");
    }
    reader.set.format = "trainyard trace (CSV)";
    return std::move(reader.set);
}

std::string write_trace_csv(const TraceSet& traces) {
    std::string out = "# trainyard trace, version 1: docs/reference/traces.md\n";
    out += fmt::format("{}\n", kHeader);
    for (const PoolTrace& pool : traces.pools) {
        std::string head =
            fmt::format("{},{},{},{},{},{}", cell(pool.pool), cell(pool.zone), pool.capacity,
                        name_of(pool.observation), pool.tick.base(), pool.first_utc);
        std::size_t price = 0;
        std::size_t step = 0;
        while (step < pool.start.size() || price < pool.price_start.size()) {
            const bool has_step = step < pool.start.size();
            const bool has_price = price < pool.price_start.size();
            const double at = std::min(has_step ? pool.start[step] : pool.end.base(),
                                       has_price ? pool.price_start[price] : pool.end.base());
            out += fmt::format("{},{},", head, at);
            if (has_step && pool.start[step] == at) out += fmt::format("{}", pool.nodes[step++]);
            out += ',';
            if (has_price && pool.price_start[price] == at)
                out += fmt::format("{}", pool.price[price++]);
            out += '\n';
            head = fmt::format("{},,,,,", cell(pool.pool));
        }
        // An event file may end at its last change.
        const double last = std::max(pool.start.empty() ? 0 : pool.start.back(),
                                     pool.price_start.empty() ? 0 : pool.price_start.back());
        if (pool.end.base() > last) out += fmt::format("{},{},,\n", head, pool.end.base());
    }
    return out;
}

}  // namespace trainyard::spot

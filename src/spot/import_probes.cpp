// Rounds of launch probes in many zones (SkyNomad's Google Cloud H100 probes, made compact):
//     scheduled_at,status,us-east4-a:created,…,us-east4-a:exhausted,…
// created = instances that launched in this round.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::spot {

namespace {

constexpr std::string_view kCreated = ":created";

struct Rounds {
    std::vector<std::size_t> rows;
    std::vector<double> at;  ///< seconds since the first
    double first = 0;
    std::size_t failed = 0;
};

Result<Rounds> read_rounds(const doc::CsvTable& table) {
    Rounds rounds;
    for (std::size_t row = 0; row < table.size(); ++row) {
        const auto time = parse_time(table.cell(row, "scheduled_at"));
        if (!time) {
            return refuse(table.place(row, "scheduled_at"), "no time",
                          "it must look like 2025-10-03T17:10:00-07:00", "correct the line");
        }
        if (table.has("status") && table.cell(row, "status") != "success") {
            ++rounds.failed;
            continue;
        }
        if (rounds.rows.empty()) rounds.first = *time;
        const double at = *time - rounds.first;
        if (!rounds.at.empty() && at <= rounds.at.back()) {
            return refuse(table.place(row, "scheduled_at"), "time does not go on",
                          "the round before is not earlier", "sort the file and drop duplicates");
        }
        rounds.rows.push_back(row);
        rounds.at.push_back(at);
    }
    if (rounds.rows.size() < 2) {
        return refuse({table.file(), 1, 1}, "fewer than two rounds", "",
                      "give a file with at least two");
    }
    return rounds;
}

Seconds usual_step(const std::vector<double>& at) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < at.size(); ++i) steps.push_back(at[i] - at[i - 1]);
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return std::max(1.0, std::round(*middle)) * kSecond;
}

void note_gaps(const std::vector<double>& at, Seconds tick, const ImportInput& in, TraceSet& set) {
    int gaps = 0;
    double longest = 0;
    for (std::size_t i = 1; i < at.size(); ++i) {
        const double step = at[i] - at[i - 1];
        if (step <= 1.5 * tick.base()) continue;
        ++gaps;
        longest = std::max(longest, step);
    }
    if (gaps == 0) return;
    set.notes.push_back(
        note(in,
             fmt::format("{} {}, the longest {}: the value before it is held", gaps,
                         gaps == 1 ? "gap" : "gaps", format_duration(longest * kSecond)),
             "rounds are missing"));
}

Result<PoolTrace> read_pool(const doc::CsvTable& table, const std::string& column,
                            const Rounds& rounds, const ImportInput& in) {
    PoolTrace pool;
    pool.pool = column.substr(0, column.size() - kCreated.size());
    pool.zone = zone_of(pool.pool);
    pool.file = in.file;
    pool.first_utc = static_cast<std::int64_t>(rounds.first);
    for (std::size_t i = 0; i < rounds.rows.size(); ++i) {
        const auto nodes = parse_nodes(table.cell(rounds.rows[i], column));
        if (!nodes) {
            return refuse(table.place(rounds.rows[i], column), "no number of instances",
                          "it is a whole number, 0 or more", "correct the cell");
        }
        append(pool.start, pool.nodes, rounds.at[i], *nodes);
    }
    return pool;
}

}  // namespace

Result<TraceSet> import_probes(const ImportInput& in) {
    auto table = doc::parse_csv(in.text, in.file);
    if (!table) return table.error();
    auto rounds = read_rounds(*table);
    if (!rounds) return rounds.error();
    TraceSet set;
    set.format = "launch probes (CSV)";
    const Seconds tick = usual_step(rounds->at);
    int most = 0;
    for (const std::string& column : table->header()) {
        if (!column.ends_with(kCreated)) continue;
        auto pool = read_pool(*table, column, *rounds, in);
        if (!pool) return pool.error();
        most = std::max(most, *std::max_element(pool->nodes.begin(), pool->nodes.end()));
        pool->tick = tick;
        pool->end = rounds->at.back() * kSecond + tick;
        set.pools.push_back(std::move(*pool));
    }
    if (set.pools.empty() || most == 0) {
        return refuse(
            table->header_place("status"),
            set.pools.empty() ? "no column \"ZONE:created\"" : "no instance ever launched", "",
            "give a file with launches");
    }
    for (PoolTrace& pool : set.pools) pool.capacity = most;
    set.notes.push_back(note(in, fmt::format("{} instances are taken to be asked for", most),
                             "the most that ever launched in one zone"));
    note_gaps(rounds->at, tick, in, set);
    if (rounds->failed > 0) {
        set.notes.push_back(note(in, fmt::format("{} rounds left out", rounds->failed),
                                 "their status is not success"));
    }
    return set;
}

}  // namespace trainyard::spot

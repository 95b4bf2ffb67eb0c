// Steps of the number of nodes, in text without a header:
//     25435,2                     time and nodes, the corners of a step line (Bamboo, Parcae)
//     2021-12-11, 11:11:30, 55    date, time and nodes (Bamboo, Google Cloud)
// and Sailor's list of {"Time": s, "GPUs": n}.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {

namespace {

constexpr double kMaxTime = 1e12;
/// Parallel checks write their lines a few minutes out of order; more is a damaged file.
constexpr double kMaxStepBack = 600;

PoolTrace empty_pool(const ImportInput& in) {
    const PathFacts path = facts_of_path(in.file);
    PoolTrace pool;
    pool.pool = path.pool;
    pool.zone = path.zone;
    pool.file = in.file;
    pool.observation = Observation::events;
    pool.first_utc = in.options.first_utc.value_or(0);
    return pool;
}

Result<TraceSet> finish(const ImportInput& in, PoolTrace pool, std::string format) {
    pool.capacity = *std::max_element(pool.nodes.begin(), pool.nodes.end());
    if (pool.capacity == 0) {
        return refuse({std::string(in.file), 1, 1}, "no node is ever up", "",
                      "give a trace with at least one node");
    }
    begin_at_zero(pool);
    TraceSet set;
    set.format = std::move(format);
    set.pools.push_back(std::move(pool));
    return set;
}

struct Step {
    double time = 0;
    int nodes = 0;
    Location where;
};

Result<std::vector<Step>> read_steps(const ImportInput& in, bool& fractions) {
    std::vector<Step> steps;
    LineReader lines(in.text);
    while (lines.next()) {
        const auto cells = lines.cells();
        if (cells.size() != 2) {
            return refuse(lines.place(in.file, cells[0]),
                          fmt::format("{} cells, not 2", cells.size()), "a line is time,nodes",
                          "correct the line");
        }
        const auto time = parse_number(cells[0].text);
        const auto nodes = parse_nodes(cells[1].text);
        if (!time || *time < 0 || *time > kMaxTime) {
            return refuse(lines.place(in.file, cells[0]), "no time", "",
                          "write a number, 0 or more");
        }
        if (!nodes) {
            return refuse(lines.place(in.file, cells[1]), "no number of nodes",
                          "it is a whole number, 0 or more", "correct the line");
        }
        if (!steps.empty() && *time < steps.back().time) {
            return refuse(lines.place(in.file, cells[0]), "time goes back",
                          fmt::format("the line before is at {}", steps.back().time),
                          "sort the file by time");
        }
        fractions = fractions || cells[0].text.find('.') != std::string_view::npos;
        steps.push_back({*time, *nodes, lines.place(in.file, cells[0])});
    }
    return steps;
}

struct Unit {
    Seconds seconds;
    std::string name;
    std::string why;
};

/// Nothing in these files names the unit of time.
Unit unit_of(const std::vector<Step>& steps, bool fractions, const ImportInput& in) {
    if (in.options.time_unit) {
        return {*in.options.time_unit, format_duration(*in.options.time_unit), "as you said"};
    }
    if (fractions) return {kHour, "hours", "they have decimals; else say --time-unit"};
    const bool thousands = std::all_of(steps.begin(), steps.end(),
                                       [](const Step& s) { return std::fmod(s.time, 1000) == 0; });
    if (thousands && steps.back().time > 0) {
        return {kMillisecond, "milliseconds", "all are whole thousands; else say --time-unit"};
    }
    return {kSecond, "seconds", "they are whole numbers; else say --time-unit"};
}

}  // namespace

Result<TraceSet> import_steps(const ImportInput& in) {
    bool fractions = false;
    auto steps = read_steps(in, fractions);
    if (!steps) return steps.error();
    const Unit unit = unit_of(*steps, fractions, in);
    PoolTrace pool = empty_pool(in);
    for (const Step& step : *steps) set_step(pool, step.time * unit.seconds.base(), step.nodes);
    auto set = finish(in, std::move(pool), "steps (CSV)");
    if (set) set->notes.push_back(note(in, "times are read as " + unit.name, unit.why));
    return set;
}

Result<TraceSet> import_dated(const ImportInput& in) {
    PoolTrace pool = empty_pool(in);
    LineReader lines(in.text);
    double first = 0;
    double now = 0;
    int back = 0;
    while (lines.next()) {
        const auto cells = lines.cells();
        if (cells.size() != 3) {
            return refuse(lines.place(in.file, cells[0]),
                          fmt::format("{} cells, not 3", cells.size()),
                          "a line is date, time, nodes", "correct the line");
        }
        const auto time = parse_time(fmt::format("{} {}", cells[0].text, cells[1].text));
        const auto nodes = parse_nodes(cells[2].text);
        if (!time) {
            return refuse(lines.place(in.file, cells[0]), "no date and time",
                          "it must look like 2021-12-11, 11:11:30", "correct the line");
        }
        if (!nodes) {
            return refuse(lines.place(in.file, cells[2]), "no number of nodes",
                          "it is a whole number, 0 or more", "correct the line");
        }
        if (pool.start.empty()) first = *time;
        const double at = *time - first;
        if (at < now - kMaxStepBack) {
            return refuse(lines.place(in.file, cells[0]), "time goes back",
                          fmt::format("by {} s", now - at), "sort the file by time");
        }
        if (at < now) ++back;
        now = std::max(now, at);
        set_step(pool, now, *nodes);
    }
    pool.first_utc = static_cast<std::int64_t>(first);
    auto set = finish(in, std::move(pool), "dated steps (CSV)");
    if (set) set->notes.push_back(note(in, "times are read as UTC", "the file does not say"));
    if (set && back > 0) {
        set->notes.push_back(
            note(in, fmt::format("{} lines step back in time and are read in file order", back),
                 "parallel checks wrote them"));
    }
    return set;
}

Result<TraceSet> import_sailor(const doc::Node& root, const ImportInput& in) {
    PoolTrace pool = empty_pool(in);
    for (const doc::Node& item : root.items()) {
        const doc::Node* time = item.find("Time");
        const doc::Node* gpus = item.find("GPUs");
        if (time == nullptr || gpus == nullptr || !time->is_numeric() || !gpus->is_numeric() ||
            time->as_number() < 0 || time->as_number() > kMaxTime || !parse_nodes(gpus->text())) {
            return refuse(item.where, "no sample", "a sample is {\"Time\": seconds, \"GPUs\": n}",
                          "correct the file");
        }
        if (!pool.start.empty() && time->as_number() <= pool.end.base()) {
            return refuse(time->where, "time does not go on",
                          fmt::format("the sample before is at {} s", pool.end.base()),
                          "sort the file by time");
        }
        set_step(pool, time->as_number(), *parse_nodes(gpus->text()));
    }
    auto set = finish(in, std::move(pool), "GPU counts (JSON)");
    if (set) set->notes.push_back(note(in, "one GPU is read as one node", "the file counts GPUs"));
    return set;
}

}  // namespace trainyard::spot

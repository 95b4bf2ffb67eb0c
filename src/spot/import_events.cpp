// Nodes that come and go, one event a line. Bamboo and Parcae replay AWS with
//     60000,add,node19
// (milliseconds), Parcae's segments of an hour are lists with its own decisions beside them:
//     [60000, "remove", {"nodes": ["node-3"], "duration": 60000, …}]

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {

namespace {

constexpr double kMaxMilliseconds = 1e12;

/// Nodes that are up, and the series of their number.
class Roll {
  public:
    Roll(const ImportInput& in, Observation observation) {
        const PathFacts path = facts_of_path(in.file);
        pool_.pool = path.pool;
        pool_.zone = path.zone;
        pool_.file = in.file;
        pool_.observation = observation;
        pool_.first_utc = in.options.first_utc.value_or(0);
    }

    std::optional<Error> at(double seconds, const Location& where) {
        if (seconds < now_) {
            return refuse(where, "time goes back", fmt::format("the event before is at {} s", now_),
                          "sort the file by time");
        }
        now_ = seconds;
        return std::nullopt;
    }
    std::optional<Error> change(bool add, const std::string& node, const Location& where) {
        const bool changed = add ? up_.insert(node).second : up_.erase(node) == 1;
        if (!changed) {
            return refuse(where,
                          add ? fmt::format("{} is added while it is up", printable(node, 60))
                              : fmt::format("{} is removed but is not up", printable(node, 60)),
                          "a node comes, goes and may come again", "correct the file");
        }
        record();
        return std::nullopt;
    }
    void record() {
        set_step(pool_, now_, static_cast<int>(up_.size()));
        most_ = std::max(most_, static_cast<int>(up_.size()));
    }

    Result<TraceSet> finish(const ImportInput& in, std::string format, double end) {
        if (most_ == 0) {
            return refuse({std::string(in.file), 1, 1}, "no node is ever up", "",
                          "give a trace with at least one node");
        }
        begin_at_zero(pool_);
        pool_.capacity = most_;
        pool_.end = std::max(end, now_) * kSecond;
        TraceSet set;
        set.format = std::move(format);
        set.pools.push_back(std::move(pool_));
        return set;
    }

  private:
    PoolTrace pool_;
    std::set<std::string> up_;
    double now_ = 0;
    int most_ = 0;
};

std::optional<Error> parcae_line(const doc::Node& event, const Location& line, Roll& roll,
                                 double& end) {
    const auto wrong = [&](const std::string& what) {
        return refuse(line, what,
                      "a line is [milliseconds, \"add\" or \"remove\", {\"nodes\": […]}]",
                      "correct the file");
    };
    if (!event.is(doc::Node::Kind::list) || event.items().size() != 3)
        return wrong("no event of three parts");
    const doc::Node& time = event.items()[0];
    const std::string& what = event.items()[1].text();
    const doc::Node* nodes = event.items()[2].find("nodes");
    if (!time.is_numeric() || time.as_number() < 0 || time.as_number() > kMaxMilliseconds)
        return wrong("the first part is no time");
    // Parcae's own moves of work between nodes change nothing here.
    if (what != "add" && what != "remove" && what != "no-op" && what != "migration")
        return wrong("unknown event");
    if (nodes == nullptr) return wrong("no nodes");
    if (auto error = roll.at(time.as_number() / 1000, line)) return error;
    const bool moves = what == "add" || what == "remove";
    for (const doc::Node& node : moves ? nodes->items() : std::vector<doc::Node>{}) {
        if (auto error = roll.change(what == "add", node.text(), line)) return error;
    }
    roll.record();
    const doc::Node* duration = event.items()[2].find("duration");
    const bool lasts = duration != nullptr && duration->is_numeric() && duration->as_number() > 0 &&
                       duration->as_number() < kMaxMilliseconds;
    end = (time.as_number() + (lasts ? duration->as_number() : 0)) / 1000;
    return std::nullopt;
}

}  // namespace

Result<TraceSet> import_events(const ImportInput& in) {
    Roll roll(in, Observation::events);
    LineReader lines(in.text);
    while (lines.next()) {
        const auto cells = lines.cells();
        if (cells.size() != 3) {
            return refuse(lines.place(in.file, cells[0]),
                          fmt::format("{} cells, not 3", cells.size()),
                          "a line is milliseconds,add|remove,node", "correct the line");
        }
        const auto time = parse_number(cells[0].text);
        if (!time || *time < 0 || *time > kMaxMilliseconds) {
            return refuse(lines.place(in.file, cells[0]), "no time in milliseconds", "",
                          "write a number, 0 or more");
        }
        const bool add = cells[1].text == "add";
        if (!add && cells[1].text != "remove") {
            return refuse(lines.place(in.file, cells[1]), "the event is neither add nor remove", "",
                          "write add or remove");
        }
        if (auto error = roll.at(*time / 1000, lines.place(in.file, cells[0]))) return *error;
        if (auto error =
                roll.change(add, std::string(cells[2].text), lines.place(in.file, cells[2])))
            return *error;
    }
    return roll.finish(in, "node events (CSV)", 0);
}

Result<TraceSet> import_parcae(const ImportInput& in) {
    Roll roll(in, Observation::events);
    LineReader lines(in.text);
    double end = 0;
    while (lines.next()) {
        auto event = doc::parse_json(lines.line(), in.file);
        if (!event) {
            Error error = event.error();
            for (Diagnostic& d : error.diagnostics) d.where.line = lines.number();
            return error;
        }
        if (auto error = parcae_line(*event, {std::string(in.file), lines.number(), 1}, roll, end))
            return *error;
    }
    return roll.finish(in, "node events (JSON lines)", end);
}

}  // namespace trainyard::spot

// Finds the importer for a text, by content.

#include <fmt/format.h>

#include <algorithm>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {

Error refuse(Location where, std::string what, std::string why, std::string fix) {
    Diagnostic d;
    d.where = std::move(where);
    d.what = std::move(what);
    d.why = std::move(why);
    d.fix = std::move(fix);
    return bad_input(std::move(d));
}

Diagnostic note(const ImportInput& in, std::string what, std::string why) {
    Diagnostic d;
    d.severity = Severity::note;
    d.where.file = in.file;
    d.what = std::move(what);
    d.why = std::move(why);
    return d;
}

Result<Seconds> seconds_between(const doc::Node& gap) {
    constexpr double kMost = 1e8;
    const double value = gap.is_numeric() ? gap.as_number() : 0;
    if (value < kShortestTick.base() || value > kMost) {
        return refuse(gap.where, "gap_seconds is no time between samples",
                      "it must be a number of seconds from 1 to 100,000,000", "correct the file");
    }
    return value * kSecond;
}

namespace {

using doc::Node;

/// Events may fall into one second, but not all of them: such a file has another unit of time.
std::optional<Error> too_fast(const TraceSet& set, const ImportInput& in) {
    for (const PoolTrace& pool : set.pools) {
        const auto changes = static_cast<double>(pool.start.size()) - 1;
        if (pool.end.base() >= changes * kShortestTick.base()) continue;
        return refuse({std::string(in.file), 1, 1},
                      fmt::format("{} changes in {:g} s", changes, pool.end.base()),
                      "that is more than one a second in the mean: no trace of spot capacity",
                      "correct the times, or say their unit: --time-unit 1s");
    }
    return std::nullopt;
}

Error unknown(const ImportInput& in, int line, int column) {
    return refuse({std::string(in.file), line, column}, "no known format of spot traces",
                  "the content matches none of the formats in docs/reference/traces.md",
                  "write it as our own CSV format, described there");
}

bool all_lists(const Node& root) {
    return !root.members().empty() &&
           std::all_of(root.members().begin(), root.members().end(),
                       [](const auto& m) { return m.second.is(Node::Kind::list); });
}

Result<TraceSet> import_json(const ImportInput& in) {
    auto root = doc::parse_json(in.text, in.file);
    if (!root) return root.error();
    const Node& r = *root;
    if (r.is(Node::Kind::list) && !r.items().empty() && r.items()[0].find("Time") != nullptr)
        return import_sailor(r, in);
    if (r.find("data") != nullptr) return import_series(r, in);
    if (r.find("SpotPriceHistory") != nullptr) return import_aws_prices(r, in);
    if (r.find("spot_advisor") != nullptr) {
        return refuse(r.where, "Spot Advisor data is no trace",
                      "it holds a band of interruptions per month, not what happened when",
                      "see docs/model/spot-processes.md for processes from bands");
    }
    if (r.find("region") != nullptr && r.find("machine_type") != nullptr &&
        r.find("price") != nullptr)
        return import_gcp_price(r, in);
    if (r.find("prices") != nullptr || all_lists(r)) return import_price_lists(r, in);
    return unknown(in, r.where.line, r.where.column);
}

bool is_number(std::string_view s) { return parse_number(s).has_value(); }

/// By the first line.
Result<TraceSet> import_text(const ImportInput& in) {
    LineReader lines(in.text);
    lines.next();
    std::string_view first = trim(lines.line());
    const auto cells = lines.cells();
    if (first.front() == '[') {
        return parse_time(first.substr(1, std::min<std::size_t>(first.find(']'), 60) - 1))
                   ? import_lifecycle(in)
                   : import_parcae(in);
    }
    while (first.starts_with('#') && lines.next()) first = trim(lines.line());
    if (first.starts_with("pool,")) return import_own(in);
    if (first.starts_with("scheduled_at,")) return import_probes(in);
    if (first.starts_with("Date,")) return import_azure_prices(in);
    if (cells.size() == 3 && is_number(cells[0].text) && !is_number(cells[1].text))
        return import_events(in);
    if (cells.size() == 3 && parse_time(fmt::format("{} 00:00:00", cells[0].text)))
        return import_dated(in);
    if (cells.size() == 2 && is_number(cells[0].text) && is_number(cells[1].text))
        return import_steps(in);
    return unknown(in, 1, 1);
}

/// '[' opens a JSON list, a list on each line (Parcae) or a time stamp.
bool is_json(std::string_view body) {
    if (body.front() == '{') return true;
    if (body.front() != '[') return false;
    const std::size_t next = body.find_first_not_of(" \t\r\n", 1);
    return next != std::string_view::npos && (body[next] == '{' || body[next] == ']');
}

}  // namespace

Result<TraceSet> import_trace(std::string_view text, std::string_view file,
                              const ImportOptions& options) {
    const ImportInput in{text, file, options};
    if (text.size() > kMaxTraceBytes) {
        return refuse(
            {std::string(file), 0, 0}, "the file is too large for a trace",
            fmt::format("{} MiB; the limit is {} MiB", text.size() >> 20U, kMaxTraceBytes >> 20U),
            "split it by pool or by time");
    }
    const std::string_view body = trim(text);
    if (body.empty()) {
        return refuse({std::string(file), 1, 1}, "the file is empty", "", "give a spot trace");
    }
    if (body.starts_with("\x1f\x8b")) {
        return refuse({std::string(file), 1, 1}, "the file is compressed", "gzip is not read here",
                      "unpack it first: tar xzf or gunzip");
    }
    if (const std::size_t valid = valid_utf8_prefix(text); valid != text.size()) {
        const auto before = text.substr(0, valid);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        const auto column = valid - (before.rfind('\n') + 1) + 1;
        return refuse({std::string(file), static_cast<int>(line), static_cast<int>(column)},
                      "the file is no text", "it is not valid UTF-8", "give a text file");
    }
    auto set = is_json(body) ? import_json(in) : import_text(in);
    if (set) {
        if (auto error = too_fast(*set, in)) return *error;
    }
    // A table with other rows than its header is mostly no table: the first one says so.
    if (!set && set.error().diagnostics.size() > 1) set.error().diagnostics.resize(1);
    return set;
}

}  // namespace trainyard::spot

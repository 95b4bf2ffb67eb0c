#include "command_trace_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

constexpr std::string_view kEndings[] = {".csv", ".json", ".out", ".txt"};

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        auto inside = sys::list_files(path, "");
        if (!inside) {
            files.push_back(path);  // a file, or nothing: reading it says which
            continue;
        }
        for (std::string& file : *inside) {
            if (std::any_of(std::begin(kEndings), std::end(kEndings),
                            [&](std::string_view ending) { return file.ends_with(ending); }))
                files.push_back(std::move(file));
        }
    }
    return files;
}

/// "2023-02-15T22:08:16Z" as Unix time.
std::optional<std::int64_t> unix_time(std::string_view s) {
    int n[6] = {};
    char zone = 'Z';
    const std::string text(s);
    const int read = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c", &n[0], &n[1], &n[2],
                                 &n[3], &n[4], &n[5], &zone);
    const std::chrono::year_month_day date{std::chrono::year{n[0]},
                                           std::chrono::month{static_cast<unsigned>(n[1])},
                                           std::chrono::day{static_cast<unsigned>(n[2])}};
    if (read < 6 || zone != 'Z' || text.size() > 20 || !date.ok() || n[3] < 0 || n[3] > 23 ||
        n[4] < 0 || n[4] > 59 || n[5] < 0 || n[5] > 59)
        return std::nullopt;
    return std::int64_t{86400} * std::chrono::sys_days{date}.time_since_epoch().count() +
           std::int64_t{3600} * n[3] + std::int64_t{60} * n[4] + n[5];
}

Diagnostic bad_option(const std::string& name, const std::string& what, const std::string& fix) {
    Diagnostic d;
    d.where.file = "--" + name;
    d.what = what;
    d.fix = fix;
    return d;
}

Result<spot::ImportOptions> options_of(const Args& args) {
    spot::ImportOptions options;
    std::vector<Diagnostic> mistakes;
    if (args.given("ones")) {
        options.convention = args.text("ones") == "available" ? spot::Convention::available
                                                              : spot::Convention::preempted;
    }
    options.tick = args.duration("tick", mistakes);
    options.time_unit = args.duration("time-unit", mistakes);
    if (options.tick && *options.tick < spot::kShortestTick)
        mistakes.push_back(bad_option("tick", "no time between samples: it must be 1 s or more",
                                      "write for example 195s"));
    if (options.time_unit && !(*options.time_unit > Seconds{}))
        mistakes.push_back(bad_option("time-unit", "no unit of time", "write for example 1h"));
    if (args.given("start")) {
        options.first_utc = unix_time(args.text("start"));
        if (!options.first_utc)
            mistakes.push_back(
                bad_option("start", "no time in UTC", "write it like 2023-02-15T22:08:16Z"));
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    return options;
}

}  // namespace

std::vector<Diagnostic> merged_notes(const std::vector<Diagnostic>& notes) {
    std::vector<Diagnostic> merged;
    std::map<std::string, std::pair<std::size_t, std::size_t>> seen;  // index, files
    for (const Diagnostic& note : notes) {
        const auto [it, is_new] = seen.try_emplace(note.what + "\n" + note.why, merged.size(), 0);
        if (is_new) merged.push_back(note);
        ++it->second.second;
    }
    for (const auto& [key, entry] : seen) {
        if (entry.second > 1)
            merged[entry.first].what += fmt::format(" (and in {} more {})", entry.second - 1,
                                                    entry.second == 2 ? "file" : "files");
    }
    return merged;
}

Result<TraceInput> read_traces(const Args& args, Io& io) {
    auto options = options_of(args);
    if (!options) return options.error();
    TraceInput input;
    const auto files = files_of(args.list("file"));
    if (files.empty()) {
        Diagnostic d;
        d.where.file = args.list("file").front();
        d.what = "no trace in this folder";
        d.why = "a trace ends in .csv, .json, .txt or .out; folders in it are not read";
        d.fix = "name the files or another folder";
        return bad_input(std::move(d));
    }
    for (const std::string& file : files) {
        auto text = sys::read_file(file, spot::kMaxTraceBytes);
        auto set =
            text ? spot::import_trace(*text, file, *options) : Result<spot::TraceSet>(text.error());
        if (!set) {
            if (set.error().kind != ErrorKind::bad_input) input.worst = set.error().kind;
            for (Diagnostic& d : set.error().diagnostics) input.mistakes.push_back(std::move(d));
            continue;
        }
        ++input.files;
        if (std::find(input.formats.begin(), input.formats.end(), set->format) ==
            input.formats.end())
            input.formats.push_back(set->format);
        auto& all = input.traces;
        std::move(set->pools.begin(), set->pools.end(), std::back_inserter(all.pools));
        std::move(set->prices.begin(), set->prices.end(), std::back_inserter(all.prices));
        std::move(set->notes.begin(), set->notes.end(), std::back_inserter(all.notes));
    }
    io.report(merged_notes(input.traces.notes));
    if (input.files == 0) return Error{input.worst, std::move(input.mistakes)};
    spot::attach_prices(input.traces);
    return input;
}

Result<int> gang_of(const Args& args) {
    std::vector<Diagnostic> mistakes;
    const auto gang = args.integer("gang", 1, 1'000'000, mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    return gang.value_or(0);
}

Result<Outcome> write_output(const Args& args, const std::string& text, const TraceInput& input) {
    if (!input.mistakes.empty()) {
        std::vector<Diagnostic> all = input.mistakes;
        if (args.given("out")) {
            Diagnostic d;
            d.severity = Severity::note;
            d.where.file = args.text("out");
            d.what = "not written";
            d.why = "not every file could be read";
            d.fix = "correct or leave out the files above";
            all.push_back(std::move(d));
        }
        return Error{input.worst, std::move(all)};
    }
    if (args.given("out")) {
        auto written = sys::write_file(args.text("out"), text);
        if (!written) return written.error();
    }
    return Outcome::done;
}

Result<Outcome> deliver(const Args& args, Io& io, const std::string& text,
                        const TraceInput& input) {
    if (!args.given("out")) io.out << text;
    return write_output(args, text, input);
}

}  // namespace trainyard::cli

#include "simulate_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/spot/cases.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {
namespace {

using spot::Case;
using spot::CaseResult;
using spot::TickTrace;

constexpr const char* kSuffix = "_v100_1.json";
constexpr std::size_t kMaxMistakes = 20;
constexpr std::size_t kCasesAtOnce = 16;  // taken by a thread; an optimum costs the most

Diagnostic mistake(Location where, std::string what, std::string why, std::string fix) {
    Diagnostic d;
    d.where = std::move(where);
    d.what = std::move(what);
    d.why = std::move(why);
    d.fix = std::move(fix);
    return d;
}

Diagnostic note(std::string file, std::string what, std::string why) {
    Diagnostic d;
    d.severity = Severity::note;
    d.where.file = std::move(file);
    d.what = std::move(what);
    d.why = std::move(why);
    return d;
}

/// The traces of one folder, read when a case asks for the zone.
class Traces {
  public:
    static Result<Traces> open(std::string folder, spot::ImportOptions options) {
        const auto files = sys::list_files(folder, kSuffix);
        if (!files) return files.error();
        if (files->empty()) {
            return bad_input(mistake({folder, 0, 0}, "no traces in this folder",
                                     fmt::format("they are called ZONE{}", kSuffix),
                                     "give the folder of an availability trace with --trace"));
        }
        Traces traces;
        traces.options_ = options;
        for (const std::string& file : *files) {
            std::string zone = std::filesystem::path(file).filename().string();
            zone.resize(zone.size() - std::string_view(kSuffix).size());
            traces.files_[std::move(zone)] = file;
        }
        traces.folder_ = std::move(folder);
        return traces;
    }

    /// What is wrong with the zone goes to `mistakes`, once.
    const TickTrace* find(const Case& job, const std::string& cases_file,
                          std::vector<Diagnostic>& mistakes) {
        if (const auto read = read_.find(job.zone); read != read_.end()) return &read->second;
        if (!refused_.contains(job.zone)) {
            auto trace = load(job, cases_file);
            if (trace) return &read_.emplace(job.zone, *std::move(trace)).first->second;
            refused_.insert(job.zone);
            for (Diagnostic& d : trace.error().diagnostics) mistakes.push_back(std::move(d));
        }
        return nullptr;
    }

    /// What was detected, one note for all files that say the same.
    std::vector<Diagnostic> notes() const {
        std::vector<Diagnostic> all;
        for (const auto& [words, files] : notes_) {
            const std::string others =
                files.size() > 1 ? fmt::format(" (and in {} more files)", files.size() - 1) : "";
            all.push_back(note(files.front(), words.first + others, words.second));
        }
        return all;
    }

  private:
    Result<TickTrace> load(const Case& job, const std::string& cases_file) {
        const auto file = files_.find(job.zone);
        if (file == files_.end()) return unknown_zone(job, cases_file);
        const auto text = sys::read_file(file->second, spot::kMaxTraceBytes);
        if (!text) return text.error();
        const auto set = spot::import_trace(*text, file->second, options_);
        if (!set) return set.error();
        const spot::PoolTrace* pool = set->pools.empty() ? nullptr : &set->pools.front();
        if (pool == nullptr || set->pools.size() > 1 || pool->tick < kMillisecond) {
            return bad_input(mistake({file->second, 0, 0}, "not the trace of one pool in ticks",
                                     "a case is played in ticks of the trace, of 1 ms or more",
                                     "give samples at a fixed interval"));
        }
        for (const Diagnostic& d : set->notes) notes_[{d.what, d.why}].push_back(file->second);
        return TickTrace(*pool);
    }

    Error unknown_zone(const Case& job, const std::string& cases_file) const {
        std::vector<std::string> zones;
        for (const auto& [zone, file] : files_) zones.push_back(zone);
        const auto near = std::min_element(
            zones.begin(), zones.end(), [&](const std::string& a, const std::string& b) {
                return edit_distance(job.zone, a) < edit_distance(job.zone, b);
            });
        return bad_input(mistake(
            {cases_file, job.line, job.zone_column}, fmt::format("no trace of \"{}\"", job.zone),
            fmt::format("{} is not in {}", job.zone + kSuffix, printable(folder_, 200)),
            fmt::format("the nearest file is {}", *near + kSuffix)));
    }

    std::string folder_;
    spot::ImportOptions options_;
    std::map<std::string, std::string> files_;  ///< by zone
    std::map<std::string, TickTrace> read_;
    std::set<std::string> refused_;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> notes_;
};

struct Batch {
    std::vector<Case> cases;
    std::vector<const TickTrace*> traces;  ///< of each case
    std::string file;
};

std::optional<Error> find_traces(Batch& batch, Traces& traces) {
    std::vector<Diagnostic> mistakes;
    for (const Case& job : batch.cases) {
        if (mistakes.size() >= kMaxMistakes) break;
        const TickTrace* trace = traces.find(job, batch.file, mistakes);
        batch.traces.push_back(trace);
        if (trace == nullptr) continue;
        if (job.start_tick >= trace->size()) {
            mistakes.push_back(
                mistake({batch.file, job.line, job.start_column},
                        fmt::format("start_tick {} is beyond the trace", job.start_tick),
                        fmt::format("the trace of {} has {} ticks", job.zone, trace->size()),
                        fmt::format("write 0 to {}", trace->size() - 1)));
        } else if (spot::too_many_ticks(job, trace->tick())) {
            mistakes.push_back(mistake(
                {batch.file, job.line, 0}, "the case has too many ticks",
                fmt::format("more than 100 million ticks of {:g} s", trace->tick() / kSecond),
                "shorten task_h, deadline_h or overhead_h"));
        }
    }
    if (mistakes.empty()) return std::nullopt;
    return bad_input(std::move(mistakes));
}

/// A result depends on its case alone, so the number of threads changes nothing.
std::vector<CaseResult> play_all(const Batch& batch, int threads) {
    std::vector<CaseResult> results(batch.cases.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        while (true) {
            const std::size_t first = next.fetch_add(kCasesAtOnce);
            if (first >= batch.cases.size()) return;
            const std::size_t end = std::min(first + kCasesAtOnce, batch.cases.size());
            for (std::size_t i = first; i < end; ++i) {
                results[i] = spot::play_case(batch.cases[i], *batch.traces[i], spot::CasePrices{});
            }
        }
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    others.clear();
    return results;
}

std::vector<Diagnostic> notes_of(const Batch& batch, const std::vector<CaseResult>& results) {
    int late = 0;
    int cut = 0;
    std::size_t cut_from = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Case& job = batch.cases[i];
        late += spot::must_be_late(job, batch.traces[i]->tick()) ? 1 : 0;
        if (job.start_tick + results[i].ticks - 1 > batch.traces[i]->size()) {
            if (cut++ == 0) cut_from = i;
        }
    }
    std::vector<Diagnostic> notes;
    if (late > 0) {
        notes.push_back(note(batch.file,
                             fmt::format("{} of {} cases must be late", late, results.size()),
                             "task_h and one overhead_h do not fit into deadline_h: on demand from "
                             "the first tick, finish_h after deadline_h"));
    }
    if (cut > 0) {
        notes.push_back(
            note(batch.file,
                 fmt::format("{} of {} cases run past the end of their trace, the first "
                             "in line {}",
                             cut, results.size(), batch.cases[cut_from].line),
                 "after its last sample a trace has no spot capacity"));
    }
    return notes;
}

std::string cases_json(const Batch& batch, const std::vector<CaseResult>& results) {
    doc::Node list = doc::Node::list();
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Case& c = batch.cases[i];
        const CaseResult& r = results[i];
        doc::Node row = doc::Node::map();
        row.set("zone", c.zone).set("start_tick", c.start_tick).set("task_h", c.task_h);
        row.set("deadline_h", c.deadline_h).set("overhead_h", c.overhead_h);
        row.set("policy", c.policy).set("cost_usd", r.cost_usd).set("spot_ticks", r.spot_ticks);
        row.set("od_ticks", r.od_ticks).set("ticks", r.ticks).set("launches", r.launches);
        row.set("work_done_s", r.work_done_s).set("finish_h", r.finish_h);
        list.append(std::move(row));
    }
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.simulate-cases").set("schema_version", 1);
    root.set("cases", std::move(list));
    return doc::write_json(root);
}

spot::ImportOptions import_options(const Args& args) {
    spot::ImportOptions options;
    if (args.text("ones") == "available") options.convention = spot::Convention::available;
    if (args.text("ones") == "preempted") options.convention = spot::Convention::preempted;
    return options;
}

}  // namespace

std::vector<Option> simulate_cases_options() {
    return {{.name = "cases",
             .value_name = "FILE",
             .help = "play a table of one-node jobs (CSV, see docs/reference/simulate-cases.md)"},
            {.name = "trace",
             .value_name = "DIR",
             .help = "folder of spot traces; a case is played on ZONE_v100_1.json"},
            {.name = "ones",
             .value_name = "WORD",
             .help = "what 1 means in the traces; else said by their content",
             .choices = {"available", "preempted"}},
            {.name = "format",
             .value_name = "WORD",
             .help = "output of --cases",
             .fallback = "csv",
             .choices = {"csv", "json"}},
            {.name = "threads", .value_name = "N", .help = "0: one per core", .fallback = "0"}};
}

Result<Outcome> run_simulate_cases(const Args& args, Io& io) {
    std::vector<Diagnostic> mistakes;
    const auto threads = args.integer("threads", 0, 1024, mistakes);
    if (!threads) return bad_input(std::move(mistakes));
    if (!args.given("trace")) {
        return Error{
            ErrorKind::usage,
            {mistake({}, "--cases needs --trace", "a case is played on the trace of its zone",
                     "add --trace DIR, the folder of ZONE_v100_1.json")}};
    }
    Batch batch;
    batch.file = args.text("cases");
    const auto text = sys::read_file(batch.file);
    if (!text) return text.error();
    auto cases = spot::read_cases(*text, batch.file);
    if (!cases) return cases.error();
    batch.cases = *std::move(cases);
    auto traces = Traces::open(args.text("trace"), import_options(args));
    if (!traces) return traces.error();
    if (auto error = find_traces(batch, *traces)) return *std::move(error);
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const std::vector<CaseResult> results = play_all(batch, *threads == 0 ? cores : *threads);
    if (!args.given("ones")) io.report(traces->notes());
    io.report(notes_of(batch, results));
    const bool is_json = args.flag("json") || args.text("format") == "json";
    io.out << (is_json ? cases_json(batch, results) : spot::write_cases(batch.cases, results));
    return Outcome::done;
}

}  // namespace trainyard::cli

#include "simulate_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
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

/// The traces of one folder, read when a case first asks for the zone. Shared by all threads.
class Traces {
  public:
    Traces(std::string folder, std::string cases_file, spot::ImportOptions options)
        : folder_(std::move(folder)), cases_file_(std::move(cases_file)), options_(options) {}

    std::optional<Error> open() {
        const auto files = sys::list_files(folder_, kSuffix);
        if (!files) return files.error();
        if (files->empty()) {
            return bad_input(mistake({folder_, 0, 0}, "no traces in this folder",
                                     fmt::format("they are called ZONE{}", kSuffix),
                                     "give the folder of an availability trace with --trace"));
        }
        for (const std::string& file : *files) {
            std::string zone = std::filesystem::path(file).filename().string();
            zone.resize(zone.size() - std::string_view(kSuffix).size());
            files_[std::move(zone)] = file;
        }
        return std::nullopt;
    }

    /// nullptr if there is none, or it cannot be read: see mistake_of.
    const TickTrace* find(const std::string& zone) {
        const std::scoped_lock lock(mutex_);
        if (const auto read = read_.find(zone); read != read_.end()) return &read->second;
        if (refused_.contains(zone)) return nullptr;
        auto trace = load(zone);
        if (trace) return &read_.emplace(zone, *std::move(trace)).first->second;
        refused_.emplace(zone, trace.error());
        return nullptr;
    }

    /// Of a zone that find has refused.
    Error mistake_of(const Case& job) const {
        const std::scoped_lock lock(mutex_);
        Error error = refused_.at(job.zone);
        for (Diagnostic& d : error.diagnostics) {
            if (d.where.file.empty()) d.where = {cases_file_, job.line, job.zone_column};
        }
        return error;
    }

    /// What was detected, one note for all files that say the same.
    std::vector<Diagnostic> notes() const {
        std::vector<Diagnostic> all;
        for (const auto& [words, files] : notes_) {
            const std::string others =
                files.size() > 1 ? fmt::format(" (and in {} more files)", files.size() - 1) : "";
            all.push_back(note(*files.begin(), words.first + others, words.second));
        }
        return all;
    }

  private:
    Result<TickTrace> load(const std::string& zone) {
        const auto file = files_.find(zone);
        if (file == files_.end()) return unknown_zone(zone);
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
        for (const Diagnostic& d : set->notes) notes_[{d.what, d.why}].insert(file->second);
        return TickTrace(*pool);
    }

    Error unknown_zone(const std::string& zone) const {
        const auto near =
            std::min_element(files_.begin(), files_.end(), [&](const auto& a, const auto& b) {
                return edit_distance(zone, a.first) < edit_distance(zone, b.first);
            });
        return bad_input(
            mistake({}, fmt::format("no trace of \"{}\"", zone),
                    fmt::format("{} is not in {}", zone + kSuffix, printable(folder_, 200)),
                    fmt::format("the nearest file is {}", near->first + kSuffix)));
    }

    std::string folder_;
    std::string cases_file_;
    spot::ImportOptions options_;
    std::map<std::string, std::string> files_;  ///< by zone
    mutable std::mutex mutex_;
    std::map<std::string, TickTrace> read_;  ///< entries stay where they are
    std::map<std::string, Error> refused_;
    std::map<std::pair<std::string, std::string>, std::set<std::string>> notes_;
};

/// What became of one block of the table.
struct Played {
    std::vector<Diagnostic> mistakes;
    ErrorKind kind = ErrorKind::bad_input;
    std::string rows;         ///< CSV, if that is wanted
    std::vector<Case> cases;  ///< if JSON is wanted
    std::vector<CaseResult> results;
    int count = 0;
    int late = 0;
    int cut = 0;
    int first_cut_line = 0;
};

class Batch {
  public:
    Batch(std::string file, Traces& traces, bool is_json)
        : file_(std::move(file)), traces_(traces), is_json_(is_json) {}

    /// A block's result depends on the block alone, so the number of threads changes nothing.
    std::vector<Played> play(const std::vector<spot::CaseBlock>& blocks, int threads) {
        std::vector<Played> played(blocks.size());
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t i = next++; i < blocks.size(); i = next++) {
                played[i] = play_block(blocks[i]);
            }
        };
        std::vector<std::jthread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back(work);
        work();
        others.clear();
        return played;
    }

  private:
    Played play_block(const spot::CaseBlock& block) {
        Played p;
        auto cases = spot::read_cases(block, file_);
        if (!cases) {
            p.mistakes = cases.error().diagnostics;
            return p;
        }
        p.results.reserve(cases->size());
        std::set<std::string, std::less<>> refused;
        for (const Case& job : *cases) {
            if (p.mistakes.size() >= kMaxMistakes) break;
            const TickTrace* trace = traces_.find(job.zone);
            if (trace == nullptr) {
                if (!refused.insert(job.zone).second) continue;
                Error error = traces_.mistake_of(job);
                p.kind = error.kind;
                for (Diagnostic& d : error.diagnostics) p.mistakes.push_back(std::move(d));
            } else if (auto wrong = misfit(job, *trace)) {
                p.mistakes.push_back(*std::move(wrong));
            } else if (p.mistakes.empty()) {
                add(p, job, *trace);
            }
        }
        p.count = static_cast<int>(cases->size());
        if (!p.mistakes.empty()) return p;
        if (is_json_) {
            p.cases = *std::move(cases);
        } else {
            p.rows = spot::case_table_rows(*cases, p.results);
            p.results = {};
        }
        return p;
    }

    static void add(Played& p, const Case& job, const TickTrace& trace) {
        p.results.push_back(spot::play_case(job, trace, spot::CasePrices{}));
        p.late += spot::must_be_late(job, trace.tick()) ? 1 : 0;
        if (job.start_tick + p.results.back().ticks - 1 > trace.size()) {
            if (p.cut++ == 0) p.first_cut_line = job.line;
        }
    }

    std::optional<Diagnostic> misfit(const Case& job, const TickTrace& trace) const {
        if (job.start_tick >= trace.size()) {
            return mistake({file_, job.line, job.start_column},
                           fmt::format("start_tick {} is beyond the trace", job.start_tick),
                           fmt::format("the trace of {} has {} ticks", job.zone, trace.size()),
                           fmt::format("write 0 to {}", trace.size() - 1));
        }
        if (spot::too_many_ticks(job, trace.tick())) {
            return mistake(
                {file_, job.line, job.task_column}, "the case has too many ticks",
                fmt::format("more than 100 million ticks of {:g} s", trace.tick() / kSecond),
                "shorten task_h, deadline_h or overhead_h");
        }
        return std::nullopt;
    }

    std::string file_;
    Traces& traces_;
    bool is_json_;
};

/// All mistakes in the order of the table, each once, at most kMaxMistakes.
std::optional<Error> mistakes_of(const std::vector<Played>& played) {
    Error error;
    std::set<std::string> known;
    for (const Played& p : played) {
        for (const Diagnostic& d : p.mistakes) {
            if (error.diagnostics.size() >= kMaxMistakes) break;
            // A zone that is not there is one mistake, however many blocks ask for it.
            const bool is_zone = d.what.starts_with("no trace of");
            if (!known.insert(is_zone ? d.what : format(d)).second) continue;
            if (error.diagnostics.empty()) error.kind = p.kind;
            error.diagnostics.push_back(d);
        }
    }
    if (error.diagnostics.empty()) return std::nullopt;
    return error;
}

std::vector<Diagnostic> notes_of(const std::vector<Played>& played, const std::string& file) {
    Played sum;
    for (const Played& p : played) {
        sum.count += p.count;
        sum.late += p.late;
        if (sum.cut == 0) sum.first_cut_line = p.first_cut_line;
        sum.cut += p.cut;
    }
    std::vector<Diagnostic> notes;
    if (sum.late > 0) {
        notes.push_back(note(file, fmt::format("{} of {} cases must be late", sum.late, sum.count),
                             "task_h and one overhead_h do not fit into deadline_h: on demand from "
                             "the first tick, finish_h after deadline_h"));
    }
    if (sum.cut > 0) {
        notes.push_back(
            note(file,
                 fmt::format("{} of {} cases run past the end of their trace, the first in line {}",
                             sum.cut, sum.count, sum.first_cut_line),
                 "after its last sample a trace has no spot capacity"));
    }
    return notes;
}

std::string cases_json(const std::vector<Played>& played) {
    doc::Node list = doc::Node::list();
    for (const Played& p : played) {
        for (std::size_t i = 0; i < p.results.size(); ++i) {
            const Case& c = p.cases[i];
            const CaseResult& r = p.results[i];
            doc::Node row = doc::Node::map();
            row.set("zone", c.zone).set("start_tick", c.start_tick).set("task_h", c.task_h);
            row.set("deadline_h", c.deadline_h).set("overhead_h", c.overhead_h);
            row.set("policy", c.policy).set("cost_usd", r.cost_usd).set("spot_ticks", r.spot_ticks);
            row.set("od_ticks", r.od_ticks).set("ticks", r.ticks).set("launches", r.launches);
            row.set("work_done_s", r.work_done_s).set("finish_h", r.finish_h);
            list.append(std::move(row));
        }
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
    const std::string file = args.text("cases");
    auto text = sys::read_file(file);
    if (!text) return text.error();
    // Small enough that the threads share the work to the end, whatever their number.
    const std::size_t block = std::clamp<std::size_t>(text->size() / 64, 1 << 12, 1 << 16);
    const std::vector<spot::CaseBlock> blocks = spot::split_cases(*text, block);
    text->clear();
    text->shrink_to_fit();
    Traces traces(args.text("trace"), file, import_options(args));
    if (auto error = traces.open()) return *std::move(error);
    const bool is_json = args.flag("json") || args.text("format") == "json";
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const std::vector<Played> played =
        Batch(file, traces, is_json).play(blocks, *threads == 0 ? cores : *threads);
    if (auto error = mistakes_of(played)) return *std::move(error);
    if (std::all_of(played.begin(), played.end(), [](const Played& p) { return p.count == 0; })) {
        return bad_input(
            mistake({file, 1, 1}, "no cases", "there is only a header", "write one case per row"));
    }
    if (!args.given("ones")) io.report(traces.notes());
    io.report(notes_of(played, file));
    if (is_json) {
        io.out << cases_json(played);
        return Outcome::done;
    }
    io.out << spot::case_table_header();
    for (const Played& p : played) io.out << p.rows;
    return Outcome::done;
}

}  // namespace trainyard::cli

// trainyard simulate: plays a run many times and says when it ends, what it costs and how sure that
// is.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "command.hpp"
#include "exclusive_options.hpp"
#include "output_file.hpp"
#include "simulate_cases.hpp"
#include "simulate_chart.hpp"
#include "simulate_guide.hpp"
#include "simulate_options.hpp"
#include "simulate_progress.hpp"
#include "simulate_report.hpp"
#include "simulate_study.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

/// The first of the three that is set and not empty decides (POSIX).
bool is_utf8_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string value = to_lower(sys::get_env(name).value_or(""));
        if (value.empty()) continue;
        return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

bool is_no(const SimulateRequest& request, const spot::Summary& s) {
    return std::any_of(request.fail_on.begin(), request.fail_on.end(), [&](const FailOn& f) {
        return 1 - (f.late ? s.meets_deadline : s.meets_budget) > f.allowed_share;
    });
}

Result<Outcome> show(const Args& args, const SimulateRequest& request, const Study& study, Io& io) {
    const bool json = args.flag("json");
    const bool html = args.given("html");
    const doc::Node data = json || html ? simulate_json(request, study, io) : doc::Node();
    if (html) {
        auto written = sys::write_file(args.text("html"), simulate_html(data));
        if (!written) return written.error();
    }
    if (json) {
        io.out << doc::write_json(data);
    } else {
        const std::string text = simulate_text(request, study, io);
        io.out << (is_utf8_locale() ? text : to_ascii(text));
    }
    if (study.partial) return Outcome::interrupted;
    return is_no(request, study.main) ? Outcome::answered_no : Outcome::done;
}

Result<Outcome> run_guide(const Args& args, Io& io) {
    Args::Mistakes mistakes;
    const auto runs = args.integer("runs", 1, 10'000'000, mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    InterruptGuard interrupt;
    ProgressBar bar(io.err, sys::is_terminal(sys::Stream::err));
    auto claims = play_guide(io.today, static_cast<std::uint64_t>(*runs),
                             {interrupt.flag(), [&bar](double share) { bar.show(share); }});
    if (!claims) return claims.error();
    if (args.flag("markdown")) {
        io.out << guide_markdown(*claims);
    } else {
        const std::string text = guide_text(*claims);
        io.out << (is_utf8_locale() ? text : to_ascii(text));
    }
    return interrupt.flag()->load() ? Outcome::interrupted : Outcome::done;
}

/// Files and folders that the options name.
std::vector<std::string> inputs_of(const Args& args) {
    std::vector<std::string> inputs = {args.text("job")};
    for (const char* name : {"trace", "prices", "catalog"}) {
        if (args.given(name)) inputs.push_back(args.text(name));
    }
    return inputs;
}

Error no_job() {
    Diagnostic d;
    d.where.file = "trainyard simulate";
    d.what = "<job> is missing";
    d.fix = "name a plan.json, a job.yaml, a config.json or a model; see trainyard simulate --help";
    return {ErrorKind::usage, {std::move(d)}};
}

/// The first option or argument given beside `chief` that it has no use for.
std::optional<Error> useless_beside(const Args& args, std::string_view chief,
                                    std::initializer_list<std::string_view> useful) {
    if (!args.given(chief)) return std::nullopt;
    for (const auto& [name, slot] : args.slots) {
        const bool is_useful = std::find(useful.begin(), useful.end(), name) != useful.end();
        if (!slot.is_given || name == chief || is_useful) continue;
        const std::array<Exclusive, 1> pair = {{{chief, name, "one has no use for the other"}}};
        return exclusive_mistake(args, "simulate", pair);
    }
    return std::nullopt;
}

/// Three commands in one: a job, --cases and --guide.
std::optional<Error> conflict(const Args& args) {
    if (auto error = useless_beside(args, "cases", {"trace", "ones", "format", "threads", "json"}))
        return error;
    if (auto error = useless_beside(args, "guide", {"runs", "markdown"})) return error;
    constexpr std::array<Exclusive, 1> kForms = {
        {{"json", "format", "both name the form of the output"}}};
    if (auto error = exclusive_mistake(args, "simulate", kForms)) return error;
    for (const auto& [name, chief] :
         {std::pair("format", "cases"), std::pair("markdown", "guide")}) {
        if (args.given(name) && !args.given(chief))
            return usage_error("simulate", fmt::format("--{} without --{}", name, chief), "",
                               fmt::format("add --{}, or leave it out", chief));
    }
    return std::nullopt;
}

Result<Outcome> run_simulate(const Args& args, Io& io) {
    if (auto error = conflict(args)) return *std::move(error);
    if (args.flag("guide")) return run_guide(args, io);
    if (args.given("cases")) return run_simulate_cases(args, io);
    if (!args.given("job")) return no_job();
    if (auto error = overwritten_input(args, "simulate", "html", inputs_of(args))) return *error;
    auto request = simulate_request(args, io.today);
    if (!request) return request.error();
    io.report(request->notes);
    InterruptGuard interrupt;
    ProgressBar bar(io.err, sys::is_terminal(sys::Stream::err));
    auto study =
        make_study(*request, {interrupt.flag(), [&bar](double share) { bar.show(share); }});
    if (!study) return study.error();
    if (study->main.runs == 0) {
        io.err << "trainyard: stopped before the first runs were played\n";
        return Outcome::interrupted;
    }
    return show(args, *request, *study, io);
}

std::vector<Option> all_options() {
    std::vector<Option> all = simulate_play_options();
    // --trace and --threads mean the same to both.
    for (Option& o : simulate_cases_options()) {
        const auto same = [&o](const Option& known) { return known.name == o.name; };
        if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(o));
    }
    all.push_back({.name = "guide",
                   .kind = Option::Kind::flag,
                   .help = "the guide's claims on spot beside what we compute (docs/guide.md)"});
    all.push_back({.name = "markdown",
                   .kind = Option::Kind::flag,
                   .help = "with --guide: print a Markdown page"});
    for (Option& o : simulate_job_options()) all.push_back(std::move(o));
    return all;
}

}  // namespace

Command simulate_command() {
    return {
        .name = "simulate",
        .summary = "Play a run many times: when it ends, what it costs, how sure that is",
        .description =
            "Plays interruptions, waits for capacity, checkpoints, restarts and the billing "
            "rules of EC2, and compares policies (which nodes to hold) and checkpoint "
            "cadences under the same luck. JOB is a plan.json (trainyard plan --json) or "
            "anything that `trainyard plan` takes. Ctrl-C prints what there is so far, marked "
            "partial, and exits with 130.",
        .examples =
            {{"trainyard simulate job.yaml", "Will it be done in time, for how much?"},
             {"trainyard simulate plan.json --policy up,on_demand --runs 100k",
              "These two policies, sampled finely"},
             {"trainyard simulate plan.json --trace traces/us-west-2a_v100_8 --html report.html",
              "Replay recorded capacity and write a page with charts"},
             {"trainyard simulate plan.json --cadence fixed:5m --rules",
              "Is saving every five minutes right, and what are the rules of EC2 worth?"},
             {"trainyard simulate plan.json --fail-on late:0.05,over-budget --json",
              "A gate for a pipeline"}},
        .options = all_options(),
        .positionals = {{.name = "job",
                         .help = "plan.json, job.yaml, config.json or a model",
                         .min = 0}},
        .run = run_simulate};
}

}  // namespace trainyard::cli

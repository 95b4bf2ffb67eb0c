// trainyard check: what in the files that people have wastes money or breaks training.

#include <fmt/format.h>

#include <algorithm>

#include "check_files.hpp"
#include "check_performance.hpp"
#include "command.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/lint/check.hpp"
#include "trainyard/lint/repair.hpp"
#include "trainyard/lint/rule.hpp"
#include "trainyard/lint/settings.hpp"
#include "trainyard/lint/write.hpp"
#include "trainyard/sys/env.hpp"
#include "trainyard/sys/environment.hpp"
#include "trainyard/workload/model.hpp"
#include "version.hpp"

namespace trainyard::cli {
namespace {

std::string painted(const Io& io, lint::Paint paint, std::string_view text) {
    switch (paint) {
        case lint::Paint::place:
            return io.paint(Tone::bold, text);
        case lint::Paint::error:
            return io.paint(Tone::bad, text);
        case lint::Paint::warning:
            return io.paint(Tone::warn, text);
        case lint::Paint::mark:
            return io.paint(Tone::good, text);
        case lint::Paint::note:
        case lint::Paint::dim:
            return io.paint(Tone::dim, text);
        case lint::Paint::none:
            break;
    }
    return std::string(text);
}

/// Whether a finding makes the answer "no".
bool fails(const lint::Finding& f, const std::string& fail_on) {
    if (f.allowed || fail_on == "never") return false;
    if (fail_on == "note") return true;
    return f.severity == Severity::error ||
           (fail_on == "warning" && f.severity == Severity::warning);
}

/// A usage error for words that are no rules.
std::optional<Error> unknown_rules(const std::vector<std::string>& only) {
    std::vector<std::string> ids;
    for (const lint::Rule& r : lint::rules()) ids.emplace_back(r.id);
    for (const std::string& id : only) {
        if (lint::rule(id) != nullptr) continue;
        const auto near = nearest(id, ids);
        return Error{ErrorKind::usage,
                     {{Severity::error,
                       {"trainyard check", 0, 0},
                       "there is no rule \"" + printable(id, 60) + '"',
                       {},
                       near ? "did you mean " + *near + "?" : "list all: trainyard rules check"}}};
    }
    return std::nullopt;
}

void keep_only(lint::Report& report, const std::vector<std::string>& only) {
    if (only.empty()) return;
    std::erase_if(report.findings, [&](const lint::Finding& f) {
        return std::find(only.begin(), only.end(), f.rule) == only.end();
    });
}

/// trainyard.yaml here or in a directory that is checked; the first that there is.
Result<lint::CheckOptions> settings_of(const Args& args) {
    std::vector<std::string> candidates;
    if (args.given("config")) {
        candidates.push_back(args.text("config"));
    } else {
        std::vector<std::string> folders = args.list("path");
        folders.insert(folders.begin(), ".");
        for (const std::string& folder : folders) {
            const std::string path = folder == "." ? "trainyard.yaml" : folder + "/trainyard.yaml";
            const auto status = sys::real_env().status(path);
            if (status && status->kind == sys::FileKind::file) candidates.push_back(path);
        }
    }
    if (candidates.empty()) return lint::CheckOptions{};
    auto text = sys::read_file(candidates.front());
    if (!text) return text.error();
    return lint::read_settings(*text, candidates.front());
}

/// A built-in model, or the shape of a config.json.
Result<std::optional<workload::Model>> model_of(const Args& args) {
    if (!args.given("model")) return std::optional<workload::Model>();
    const std::string& name = args.text("model");
    if (!name.ends_with(".json")) {
        auto found = workload::find_model(name);
        if (!found) return found.error();
        return std::optional(*std::move(found));
    }
    auto text = sys::read_file(name);
    if (!text) return text.error();
    auto root = doc::parse_json(*text, name);
    if (!root) return root.error();
    auto model = workload::import_hf_config(*root);
    if (!model) return model.error();
    if (model->name.empty()) model->name = name;
    return std::optional(*std::move(model));
}

std::string printed(const lint::Report& report, const CheckFiles& files, const Args& args,
                    const Io& io) {
    const std::string format = args.flag("json") ? "json" : args.text("format");
    if (format == "json") return lint::write_json(report);
    if (format == "sarif") return lint::write_sarif(report, kVersion);
    if (format == "github") return lint::write_github(report);
    if (format == "junit") return lint::write_junit(report, files.texts);
    const lint::TextStyle style{
        .paint = [&io](lint::Paint p, std::string_view t) { return painted(io, p, t); },
        .width = static_cast<std::size_t>(std::clamp(io.width, 40, 120)),
        .show_allowed = args.flag("show-allowed")};
    return lint::write_text(report, files.texts, style);
}

/// The repairs as a diff; written only with --write.
Result<Outcome> run_fix(const lint::Report& report, const CheckFiles& files, bool writes, Io& io) {
    const std::vector<lint::Repaired> repaired = lint::repair(report, files.texts);
    int edits = 0;
    for (const lint::Repaired& r : repaired) {
        edits += r.edits;
        io.out << lint::unified_diff(r);
        if (!writes) continue;
        if (r.path == "-") continue;
        auto written = sys::write_file(r.path, r.after);
        if (!written) return written.error();
    }
    io.err << fmt::format("{} repair{} in {} file{}{}\n", edits, edits == 1 ? "" : "s",
                          repaired.size(), repaired.size() == 1 ? "" : "s",
                          writes             ? ", written"
                          : repaired.empty() ? ""
                                             : ": look at them, then --fix --write");
    return Outcome::done;
}

Result<Outcome> run_check(const Args& args, Io& io) {
    if (args.flag("write") && !args.flag("fix")) {
        return Error{ErrorKind::usage,
                     {{Severity::error,
                       {"trainyard check", 0, 0},
                       "--write goes with --fix",
                       {},
                       "trainyard check --fix shows what would be written"}}};
    }
    if (auto unknown = unknown_rules(args.list("only"))) return *unknown;
    auto options = settings_of(args);
    if (!options) return options.error();
    auto files = read_check_files(args.list("path"));
    if (!files) return files.error();
    if (args.given("plan")) {
        auto text = sys::read_file(args.text("plan"));
        if (!text) return text.error();
        options->plan = lint::SourceText{args.text("plan"), *std::move(text), true};
    }
    auto model = model_of(args);
    if (!model) return model.error();
    const CheckPerformance performance;
    options->performance = &performance;
    if (*model) options->model = &**model;
    lint::Report report = lint::check(files->texts, *options);
    report.diagnostics.insert(report.diagnostics.begin(), files->diagnostics.begin(),
                              files->diagnostics.end());
    keep_only(report, args.list("only"));
    if (args.flag("fix")) return run_fix(report, *files, args.flag("write"), io);
    io.out << printed(report, *files, args, io);
    io.report(report.diagnostics);
    const bool is_broken =
        std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                    [](const Diagnostic& d) { return d.severity == Severity::error; });
    if (is_broken) return Error{ErrorKind::bad_input, {}};
    const std::string fail_on = args.text("fail-on");
    const bool answer_is_no = std::any_of(report.findings.begin(), report.findings.end(),
                                          [&](const auto& f) { return fails(f, fail_on); });
    return answer_is_no ? Outcome::answered_no : Outcome::done;
}

}  // namespace

Command check_command() {
    return {
        .name = "check",
        .summary = "Find what wastes money or breaks training in the configs you have",
        .description =
            "Reads ParallelCluster, Karpenter and other Kubernetes manifests, eksctl, Helm values, "
            "SageMaker requests and Python, EC2 launch templates and fleets, Terraform, "
            "CloudFormation, sbatch and shell scripts, Dockerfiles; told by content. All files "
            "given are one case: rules see across them. Python and scripts are read, never run. "
            "Formats, suppressions: docs/reference/check.md.",
        .examples = {{"trainyard check cluster.yaml job.sbatch", "Two files that belong together"},
                     {"trainyard check . --fail-on warning", "A whole repository, in CI"},
                     {"trainyard check cluster/ --plan plan.json", "Do the files follow the plan?"},
                     {"trainyard check job.json --format json", "For a program"}},
        .options = {{.name = "plan",
                     .value_name = "FILE",
                     .help =
                         "a plan (trainyard plan --json): findings where the files contradict it"},
                    {.name = "model",
                     .value_name = "MODEL",
                     .help = "what the files train, for their memory: a name or a config.json"},
                    {.name = "format",
                     .value_name = "FORMAT",
                     .help = "how findings are printed",
                     .fallback = "text",
                     .choices = {"text", "json", "sarif", "github", "junit"}},
                    {.name = "json",
                     .kind = Option::Kind::flag,
                     .help = "the same as --format json, schema trainyard.check"},
                    {.name = "fail-on",
                     .value_name = "SEVERITY",
                     .help = "exit with 1 if there is a finding of this severity or above",
                     .fallback = "error",
                     .choices = {"error", "warning", "note", "never"}},
                    {.name = "only",
                     .kind = Option::Kind::list,
                     .value_name = "RULE",
                     .help = "only findings of these rules"},
                    {.name = "fix",
                     .kind = Option::Kind::flag,
                     .help = "show the mechanical repairs as a diff instead of the findings"},
                    {.name = "write",
                     .kind = Option::Kind::flag,
                     .help = "with --fix: write the repairs into the files"},
                    {.name = "config",
                     .value_name = "FILE",
                     .help = "settings instead of trainyard.yaml here or in a directory given"},
                    {.name = "show-allowed",
                     .kind = Option::Kind::flag,
                     .help = "show findings that a comment or trainyard.yaml allows, too"}},
        .positionals = {{.name = "path",
                         .help = "files and directories; - is standard input",
                         .min = 1,
                         .max = kAnyNumber}},
        .run = run_check};
}

}  // namespace trainyard::cli

// trainyard check: what in the files that people have wastes money or breaks training.

#include <algorithm>

#include "check_files.hpp"
#include "command.hpp"
#include "trainyard/lint/check.hpp"
#include "trainyard/lint/write.hpp"
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

Result<Outcome> run_check(const Args& args, Io& io) {
    auto files = read_check_files(args.list("path"));
    if (!files) return files.error();
    lint::Report report = lint::check(files->texts);
    report.diagnostics.insert(report.diagnostics.begin(), files->diagnostics.begin(),
                              files->diagnostics.end());
    const std::string format = args.text("format");
    if (format == "json" || args.flag("json")) {
        io.out << lint::write_json(report);
    } else {
        const lint::TextStyle style{
            .paint = [&io](lint::Paint p, std::string_view t) { return painted(io, p, t); },
            .width = static_cast<std::size_t>(std::clamp(io.width, 40, 120)),
            .show_allowed = args.flag("show-allowed")};
        io.out << lint::write_text(report, files->texts, style);
    }
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
                     {"trainyard check job.json --format json", "For a program"}},
        .options = {{.name = "format",
                     .value_name = "FORMAT",
                     .help = "how findings are printed",
                     .fallback = "text",
                     .choices = {"text", "json"}},
                    {.name = "json",
                     .kind = Option::Kind::flag,
                     .help = "the same as --format json, schema trainyard.check"},
                    {.name = "fail-on",
                     .value_name = "SEVERITY",
                     .help = "exit with 1 if there is a finding of this severity or above",
                     .fallback = "error",
                     .choices = {"error", "warning", "note", "never"}},
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

// trainyard calibrate: what measured runs say about the next prediction.

#include <fmt/format.h>

#include <map>

#include "command.hpp"
#include "command_calibrate_input.hpp"
#include "command_catalog_input.hpp"
#include "output_file.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

struct Measured {
    perf::MeasuredRun run;
    Predicted predicted;
};
using Kinds = std::map<perf::CalibrationKey, std::vector<Measured>>;

Diagnostic about(const Record& record, Severity severity, std::string what, std::string why,
                 std::string fix) {
    return {severity, {record.file, 0, 0}, std::move(what), std::move(why), std::move(fix)};
}

/// Records by what they hold for; those that say nothing are warned of.
Result<Kinds> sort_records(const CalibrateInput& in, Io& io) {
    Kinds kinds;
    std::vector<Diagnostic> problems;
    for (const Record& record : in.records) {
        if (record.spans.size() < perf::kFewestSpans) {
            io.report({about(record, Severity::warning,
                             fmt::format("too short: {} timed, {} needed", record.spans.size(),
                                         perf::kFewestSpans),
                             "after the first of each start, spans of steps of 5 s or more count",
                             "let the run go on for a minute")});
            continue;
        }
        const auto& predicted = record.predicted ? record.predicted : in.named;
        if (!predicted) {
            problems.push_back(about(record, Severity::error, "no plan is in this record",
                                     "it was made by a run without --plan",
                                     "name what was run: trainyard calibrate RECORD run.yaml"));
            continue;
        }
        kinds[predicted->key].push_back(
            {perf::measure(record.spans, predicted->step, record.file), *predicted});
    }
    if (!problems.empty()) return bad_input(std::move(problems));
    if (kinds.empty()) {
        Diagnostic d;
        d.where.file = "trainyard calibrate";
        d.what = "no record says anything";
        d.fix = "give the record.json of runs with a minute or more of steps";
        return bad_input(std::move(d));
    }
    return kinds;
}

std::string range(Seconds step, const perf::ErrorBand& band) {
    return fmt::format("{} (80 % range {} to {}, -{:.1f} % to +{:.1f} %)", format_duration(step),
                       format_duration(step * band.low), format_duration(step * band.high),
                       100 * (1 - band.low), 100 * (band.high - 1));
}

std::string text_of(const perf::Calibration& c, const std::vector<Measured>& runs,
                    const Predicted& shown) {
    const double percent = 100 * (c.factor - 1);
    std::string out = fmt::format(
        "{} on {} with {}: step {:.1f} % {} than our model's, from {} step{} of {} run{}\n",
        c.key.family, c.key.instance, c.key.stack, std::abs(percent),
        percent < 0 ? "shorter" : "longer", format_count(static_cast<double>(c.steps)),
        c.steps == 1 ? "" : "s", runs.size(), runs.size() == 1 ? "" : "s");
    Table table({{"  record", Align::left},
                 {"steps", Align::right},
                 {"measured", Align::right},
                 {"predicted", Align::right},
                 {"ratio", Align::right},
                 {"what"}});
    for (const Measured& m : runs) {
        table.add({"  " + m.run.source, std::to_string(m.run.steps),
                   format_duration(m.run.ratio * m.predicted.step),
                   format_duration(m.predicted.step), fmt::format("{:.3f}", m.run.ratio),
                   m.predicted.words});
    }
    out += table.text();
    out += fmt::format("  {}\n", shown.words);
    out += fmt::format("    before  {}: {}\n", range(shown.step, shown.band), shown.band.basis);
    out += fmt::format("    after   {}: {} of your own too\n", range(c.factor * shown.step, c.band),
                       runs.size() == 1 ? "1 run" : fmt::format("{} runs", runs.size()));
    return out;
}

Result<Outcome> run_calibrate(const Args& args, Io& io) {
    const std::vector<std::string> files = args.list("record");
    if (auto error = overwritten_input(args, "calibrate", "output", files)) return *error;
    auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    auto in = calibrate_input(files, *catalog);
    if (!in) return in.error();
    auto kinds = sort_records(*in, io);
    if (!kinds) return kinds.error();
    perf::Calibrations all;
    std::string text;
    for (const auto& [key, members] : *kinds) {
        std::vector<perf::MeasuredRun> runs;
        for (const Measured& m : members) runs.push_back(m.run);
        const bool is_named = in->named && in->named->key == key;
        const Predicted& shown = is_named ? *in->named : members.front().predicted;
        perf::Calibration c = perf::calibrate(key, members.front().predicted.band, runs);
        text += text_of(c, members, shown);
        all.add(std::move(c));
    }
    text += "Other model families, instance types and stacks are predicted as before.\n";
    const doc::Node json = all.json(io.today);
    if (args.given("output")) {
        const std::string file = args.text("output");
        auto written = sys::write_file(file, doc::write_json(json));
        if (!written) return written.error();
        text += fmt::format(
            "Written to {}: trainyard plan, predict and simulate take "
            "--calibration {}\n",
            file, file);
    }
    io.out << (args.flag("json") ? doc::write_json(json) : text);
    return Outcome::done;
}

}  // namespace

Command calibrate_command() {
    return {.name = "calibrate",
            .summary = "Correct predictions by the records of your own runs",
            .description =
                "A record is the record.json in the --state of a `trainyard run --plan plan.json`. "
                "The step times in it are compared with our model's; the result corrects the step "
                "time, and narrows its range, for the same model family, instance type and "
                "software stack: docs/model/calibration.md. A record of a run without --plan needs "
                "the plan.json or run.yaml that says what was run.",
            .examples = {{"trainyard calibrate .trainyard/record.json -o calibration.json",
                          "one run's steps against the plan's"},
                         {"trainyard calibrate a.json b.json run.yaml --json",
                          "what two runs say about a configuration"}},
            .options = {{.name = "output",
                         .value_name = "FILE",
                         .help = "write the calibration here; without it, it is only shown",
                         .letter = "o"},
                        {.name = "json",
                         .kind = Option::Kind::flag,
                         .help = "print JSON, schema trainyard.calibration"},
                        {.name = "catalog",
                         .value_name = "DIR",
                         .help = "replace the built-in catalog tables"},
                        {.name = "prices", .value_name = "FILE", .help = "price overrides (CSV)"}},
            .positionals = {{.name = "record",
                             .help = "record.json files, and at most one plan.json or run.yaml",
                             .min = 1,
                             .max = kAnyNumber}},
            .run = run_calibrate};
}

}  // namespace trainyard::cli

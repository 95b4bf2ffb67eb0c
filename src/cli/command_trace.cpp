// trainyard trace stats|fit|convert: what was seen of spot capacity.

#include "command.hpp"
#include "command_trace_parts.hpp"
#include "output_file.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

const std::vector<std::string> kActions = {"stats", "fit", "convert"};

Result<Outcome> run_stats(const Args& args, const TraceInput& input, Io& io) {
    auto gang = gang_of(args);
    if (!gang) return gang.error();
    const TraceStats stats = trace_stats(input.traces, *gang);
    if (args.flag("json")) {
        return deliver(args, io, doc::write_json(trace_stats_json(stats, input)), input);
    }
    if (args.flag("csv")) return deliver(args, io, trace_stats_csv(stats), input);
    return deliver(args, io, trace_stats_text(stats, input, io), input);
}

Result<Outcome> run_convert(const Args& args, const TraceInput& input, Io& io) {
    if (input.traces.pools.empty()) {
        Diagnostic d;
        d.where.file = args.list("file").front();
        d.what = "nothing to convert";
        d.why = "there are prices here but no capacity";
        d.fix = "give the traces of capacity, and the prices beside them";
        return bad_input(std::move(d));
    }
    return deliver(args, io, spot::write_trace_csv(input.traces), input);
}

Result<Outcome> run_trace(const Args& args, Io& io) {
    const std::string action = args.text("action");
    if (std::find(kActions.begin(), kActions.end(), action) == kActions.end()) {
        Diagnostic d;
        d.where.file = "trainyard trace";
        d.what = "\"" + printable(action, 60) + "\" is not one of stats, fit, convert";
        const auto near = nearest(action, kActions);
        d.fix = near ? "did you mean " + *near + "?" : "trainyard trace stats FILE";
        return Error{ErrorKind::usage, {d}};
    }
    if (auto error = overwritten_input(args, "trace", "out", args.list("file"))) return *error;
    auto input = read_traces(args, io);
    if (!input) return input.error();
    if (action == "fit") return run_trace_fit(args, *input, io);
    if (action == "convert") return run_convert(args, *input, io);
    return run_stats(args, *input, io);
}

Option text_option(std::string name, std::string value, std::string help) {
    Option option;
    option.name = std::move(name);
    option.value_name = std::move(value);
    option.help = std::move(help);
    return option;
}
Option flag_option(std::string name, std::string help) {
    Option option = text_option(std::move(name), "", std::move(help));
    option.kind = Option::Kind::flag;
    return option;
}

}  // namespace

Command trace_command() {
    Option ones =
        text_option("ones", "WORD",
                    "what 1 means in files of zeros and ones; the default is detected and "
                    "stated in a note");
    ones.choices = {"available", "preempted"};
    Command command;
    command.name = "trace";
    command.summary = "Spot capacity that was seen: statistics, fitted processes, conversion";
    command.description =
        "Actions: stats prints what the traces say; fit fits a process to each pool; convert "
        "writes "
        "our own CSV format. Formats: docs/reference/traces.md.";
    command.examples = {
        {"trainyard trace stats us-west-2a_v100_1.json",
         "how often, for how long, and the chance to be interrupted at each age"},
        {"trainyard trace stats traces/ prices.json --tick 195s",
         "all pools of a folder, their correlation, and prices from another file"},
        {"trainyard trace fit traces/ --out processes.csv",
         "a process for each pool, and how well it fits"},
        {"trainyard trace convert p3-trace.csv --out p3.csv", "one format for all traces"}};
    command.options = {
        flag_option("json", "print JSON, schema trainyard.trace-stats or trainyard.trace-fit"),
        flag_option("csv", "print the table of pools as CSV"),
        text_option("out", "FILE", "write to a file; fit writes its processes there (CSV)"),
        text_option("gang", "N",
                    "nodes that are needed together; default: the most that the trace asked for, "
                    "in event files the number held half of the time"),
        std::move(ones),
        text_option("tick", "TIME", "time between samples, for files that do not say"),
        text_option("time-unit", "TIME", "unit of times without one, as in 1h or 1s"),
        text_option("start", "TIME",
                    "UTC of the first sample, for files that do not say: 2023-02-15T22:08:16Z")};
    command.positionals = {
        {.name = "action", .help = "stats, fit or convert", .min = 1, .max = 1},
        {.name = "file", .help = "traces, or folders of them", .min = 1, .max = kAnyNumber}};
    command.run = run_trace;
    return command;
}

}  // namespace trainyard::cli

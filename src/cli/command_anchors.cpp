// trainyard anchors: the scaling claims of a practitioner's guide beside what the model computes.

#include <array>
#include "anchors_report.hpp"

#include "command.hpp"
#include "command_catalog_input.hpp"
#include "exclusive_options.hpp"

namespace trainyard::cli {

namespace {

Result<Outcome> run_anchors(const Args& args, Io& io) {
    constexpr std::array kPairs = {Exclusive{"json", "markdown", "one output has one form"}};
    if (auto wrong = exclusive_mistake(args, "anchors", kPairs)) return *std::move(wrong);
    const auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    const auto all = compute_all(guide_anchors(), *catalog);
    if (!all) return all.error();
    if (args.flag("json")) {
        io.out << doc::write_json(anchors_json(*all));
    } else if (args.flag("markdown")) {
        io.out << anchors_markdown(*all);
    } else {
        io.out << anchors_text(*all, io);
    }
    return Outcome::done;
}

}  // namespace

Command anchors_command() {
    return {.name = "anchors",
            .summary = "Scaling claims of a practitioner's guide beside what the model computes",
            .description =
                "For each claim: the guide's number with its line, the nearest public measurement, "
                "our own "
                "computation with its mapping and the term that dominates the loss, and what "
                "explains the "
                "difference: batch, overlap or network.",
            .examples = {{"trainyard anchors",
                          "what the guide claims, what the model computes and why they differ"},
                         {"trainyard anchors --json", "the same for programs"}},
            .options = {{.name = "json",
                         .kind = Option::Kind::flag,
                         .help = "print JSON, schema trainyard.anchors"},
                        {.name = "markdown",
                         .kind = Option::Kind::flag,
                         .help = "print a Markdown page"},
                        {.name = "catalog",
                         .value_name = "DIR",
                         .help = "replace the built-in catalog tables"},
                        {.name = "prices", .value_name = "FILE", .help = "price overrides (CSV)"}},
            .positionals = {},
            .run = run_anchors};
}

}  // namespace trainyard::cli

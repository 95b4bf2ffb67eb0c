// trainyard validate RUNS.csv: predictions against measured runs.

#include <array>

#include "command.hpp"
#include "command_catalog_input.hpp"
#include "exclusive_options.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/perf/constants.hpp"
#include "trainyard/sys/environment.hpp"
#include "trainyard/validate/score.hpp"

namespace trainyard::cli {

namespace {

Result<perf::Constants> constants_of(const Args& args) {
    const std::string path = args.text("constants");
    if (path.empty()) return perf::default_constants();
    auto text = sys::read_file(path);
    if (!text) return text.error();
    return perf::parse_constants(*text, path);
}

Result<Outcome> run_validate(const Args& args, Io& io) {
    constexpr std::array kPairs = {Exclusive{"json", "markdown", "one output has one form"}};
    if (auto wrong = exclusive_mistake(args, "validate", kPairs)) return *std::move(wrong);
    auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    auto constants = constants_of(args);
    if (!constants) return constants.error();
    const std::string path = args.list("runs").front();
    auto text = sys::read_file(path);
    if (!text) return text.error();
    auto table = doc::parse_csv(*text, path);
    if (!table) return table.error();
    auto runs = validate::read_runs(*table, *catalog);
    if (!runs) return runs.error();
    const std::vector<validate::Scored> scored = validate::score(*runs, *constants);
    if (args.flag("json")) {
        io.out << doc::write_json(validate::render_json(scored));
    } else if (args.flag("markdown")) {
        io.out << validate::render_markdown(scored);
    } else {
        io.out << validate::render_text(scored);
    }
    return Outcome::done;
}

}  // namespace

Command validate_command() {
    return {.name = "validate",
            .summary = "Compare predictions with measured runs: the error table",
            .examples = {{"trainyard validate runs.csv",
                          "errors by accelerator, source and parallelism, the worst rows"},
                         {"trainyard validate runs.csv --json", "one object per row"}},
            .options = {{.name = "json",
                         .kind = Option::Kind::flag,
                         .help = "print JSON, schema trainyard.validation"},
                        {.name = "markdown",
                         .kind = Option::Kind::flag,
                         .help = "print the table as a Markdown page"},
                        {.name = "constants",
                         .value_name = "FILE",
                         .help = "use these model constants (CSV) in place of the built-in ones"},
                        {.name = "catalog",
                         .value_name = "DIR",
                         .help = "replace the built-in catalog tables"},
                        {.name = "prices", .value_name = "FILE", .help = "price overrides (CSV)"}},
            .positionals = {{.name = "runs",
                             .help = "measured runs (CSV, see docs/reference/runs-csv.md)"}},
            .run = run_validate};
}

}  // namespace trainyard::cli

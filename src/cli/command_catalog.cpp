// trainyard catalog: what can be rented, with what inside, at what price, from which source.

#include <fmt/format.h>

#include <algorithm>

#include "command_catalog_fields.hpp"
#include "command_catalog_input.hpp"
#include "command_catalog_rows.hpp"
#include "command_catalog_views.hpp"
#include "exclusive_options.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/catalog/staleness.hpp"

namespace trainyard::cli {

using catalog::Catalog;
using catalog::Price;

namespace {

constexpr const char* kDefaultRegion = "us-east-1";

std::vector<std::string> field_names() {
    std::vector<std::string> names;
    for (const Field& f : instance_fields()) names.push_back(f.name);
    return names;
}

Result<CatalogQuery> query_of(const Args& args) {
    std::vector<Diagnostic> mistakes;
    CatalogQuery q;
    q.filters = args.list("filter");
    q.families = args.list("family");
    q.accelerators = args.list("accelerator");
    q.min_memory = args.bytes("min-memory", mistakes);
    q.region = args.given("region") ? args.text("region") : kDefaultRegion;
    q.purchase = *catalog::parse_purchase(args.text("purchase"));
    q.sort = args.text("sort");
    q.is_reversed = args.flag("reverse");
    q.for_training = args.flag("training");
    q.with_all = args.flag("all");
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    return q;
}

/// A region that no price names is a slip (or a region without a price: the same to the reader).
std::optional<Diagnostic> check_region(const Catalog& c, const std::string& region) {
    std::vector<std::string> regions;
    for (const Price& p : c.prices()) {
        if (p.region == region) return std::nullopt;
        regions.push_back(p.region);
    }
    const auto near = nearest(region, regions);
    return Diagnostic{
        Severity::error,
        {"--region", 0, 0},
        fmt::format("we know no price in \"{}\"", region),
        "",
        near ? fmt::format("did you mean \"{}\"?", *near) : "give yours with --prices"};
}

Result<std::vector<const Field*>> fields_of(const Args& args) {
    const std::vector<std::string> known = field_names();
    std::vector<std::string> names =
        args.given("columns") ? args.list("columns") : default_fields();
    // What the rows are sorted by is shown, in place of the last column (the launch date).
    const std::string key = args.text("sort");
    const bool shown = args.given("columns") || std::count(names.begin(), names.end(), key) > 0;
    if (!shown && std::count(known.begin(), known.end(), key) > 0) {
        names.back() = key;
    }
    std::vector<const Field*> fields;
    std::vector<Diagnostic> mistakes;
    for (const std::string& name : names) {
        const auto& all = instance_fields();
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const Field& f) { return f.name == name; });
        if (found != all.end()) {
            fields.push_back(&*found);
            continue;
        }
        const auto near = nearest(name, field_names());
        mistakes.push_back({Severity::error,
                            {"--columns", 0, 0},
                            fmt::format("there is no column \"{}\"", name),
                            "",
                            near ? fmt::format("did you mean \"{}\"?", *near)
                                 : fmt::format("one of {}", fmt::join(field_names(), ", "))});
    }
    if (!mistakes.empty()) return Error{ErrorKind::usage, std::move(mistakes)};
    return fields;
}

/// "from A to B" over the dates of what is shown.
std::string date_range(std::vector<std::string> dates) {
    if (dates.empty()) return "none";
    std::sort(dates.begin(), dates.end());
    return dates.front() == dates.back() ? dates.front() : dates.front() + " to " + dates.back();
}

void footer(const std::vector<CatalogRow>& rows, const CatalogQuery& q, Io& io) {
    std::vector<std::string> spec_dates;
    std::vector<std::string> price_dates;
    for (const CatalogRow& r : rows) {
        spec_dates.push_back(r.instance->provenance.as_of);
        if (r.price) price_dates.push_back(r.price->provenance.as_of);
    }
    const bool is_one = rows.size() == 1;
    io.out << io.paint(
        Tone::dim,
        fmt::format(
            "\n{} instance type{}. Specifications of {}; {} prices of {} ({}). \"?\": unknown.\n"
            "GB/s/ACC: EFA bandwidth per accelerator. Source of every value: --json\n",
            rows.size(), is_one ? "" : "s", date_range(std::move(spec_dates)),
            to_string(q.purchase), q.region, date_range(std::move(price_dates))));
}

void warn_of_age(const std::vector<CatalogRow>& rows, Io& io) {
    std::vector<Price> prices;
    for (const CatalogRow& r : rows) {
        if (r.price) prices.push_back(*r.price);
    }
    io.report(catalog::stale_prices(prices, io.today, catalog::kStaleAfterDays, 1));
}

Result<Outcome> show_instances(const Catalog& c, const Args& args, Io& io) {
    auto query = query_of(args);
    if (!query) return query.error();
    auto fields = fields_of(args);
    if (!fields) return fields.error();
    if (auto mistake = check_region(c, query->region)) return bad_input(std::move(*mistake));
    auto rows = catalog_rows(c, *query);
    if (!rows) return rows.error();
    warn_of_age(*rows, io);
    const Format format = format_of(args);
    if (format != Format::table) {
        std::vector<doc::Node> records;
        for (const CatalogRow& r : *rows) records.push_back(record(r, c));
        io.out << (format == Format::json ? catalog_json("instances", std::move(records), io)
                                          : csv_text(records));
        return Outcome::done;
    }
    std::vector<Column> columns;
    for (const Field* f : *fields) columns.push_back(f->column);
    Table table(std::move(columns));
    for (const CatalogRow& r : *rows) {
        std::vector<std::string> cells;
        for (const Field* f : *fields) cells.push_back(f->cell(r));
        table.add(std::move(cells));
    }
    io.out << table.text();
    footer(*rows, *query, io);
    return Outcome::done;
}

Option text_option(const char* name, const char* value, std::string help, std::string fallback = {},
                   std::vector<std::string> choices = {}) {
    return {.name = name,
            .kind = Option::Kind::text,
            .value_name = value,
            .help = std::move(help),
            .fallback = std::move(fallback),
            .choices = std::move(choices)};
}

Option flag_option(const char* name, std::string help) {
    return {.name = name,
            .kind = Option::Kind::flag,
            .value_name = {},
            .help = std::move(help),
            .fallback = {},
            .choices = {}};
}

Option list_option(const char* name, const char* value, std::string help) {
    return {.name = name,
            .kind = Option::Kind::list,
            .value_name = value,
            .help = std::move(help),
            .fallback = {},
            .choices = {}};
}

std::vector<Option> options() {
    std::vector<Option> all = {
        text_option("sort", "KEY", "order of the rows", {}, sort_keys()),
        flag_option("reverse", "the other way round"),
        text_option("region", "REGION",
                    "whose prices (default us-east-1; for `prices`: every region)"),
        text_option("purchase", "TYPE", "which price", "on_demand",
                    {"on_demand", "spot", "reserved_1y", "reserved_3y", "savings_plan_1y",
                     "savings_plan_3y", "capacity_block"}),
        list_option("family", "F", "only these families, exactly"),
        list_option("accelerator", "A", "only types with these accelerators"),
        text_option("min-memory", "SIZE",
                    "only accelerators with at least this much memory each, like 80GiB"),
        list_option("columns", "NAMES", "which columns of the table, in this order"),
        text_option("format", "FORMAT", "how to print", "table", {"table", "json", "csv"}),
        flag_option("json", "same as --format json"),
        flag_option("training",
                    "only types one would train on: no inference or graphics parts, no fractions, "
                    "not retired"),
        flag_option("all", "also retired types and types without accelerator"),
        flag_option("guide-table",
                    "the instance table of a practitioner's guide, with corrections"),
    };
    for (Option& o : all) {
        if (o.name == "region" || o.name == "accelerator") o.names = o.name;
    }
    for (Option& o : catalog_options()) all.push_back(std::move(o));
    return all;
}

/// Options that a view would ignore are refused: whoever writes them expects an effect.
std::optional<Error> ignored_option(const Args& args, const std::string& view,
                                    const std::vector<std::string_view>& used) {
    for (const Option& o : options()) {
        const bool known = std::find(used.begin(), used.end(), o.name) != used.end();
        if (known || !args.given(o.name)) continue;
        return usage_error("catalog", fmt::format("--{} has no effect on {}", o.name, view), "",
                           "leave it out");
    }
    return std::nullopt;
}

std::optional<Error> catalog_mistake(const Args& args) {
    if (args.flag("json") && args.given("format") && args.text("format") != "json") {
        return usage_error("catalog",
                           "--json and --format " + args.text("format") + " exclude each other",
                           "one output has one form", "keep one of them");
    }
    const std::vector<std::string> words = args.list("filter");
    if (std::find(words.begin(), words.end(), "") != words.end()) {
        return usage_error("catalog", "an empty filter matches nothing", "",
                           "leave it out to see everything");
    }
    if (args.flag("guide-table")) {
        if (!words.empty()) {
            return usage_error("catalog", "--guide-table has its own rows",
                               "it is the table of a guide, with corrections",
                               "leave out \"" + words.front() + '"');
        }
        return ignored_option(args, "--guide-table", {"guide-table", "catalog", "prices"});
    }
    if (words.empty()) return std::nullopt;
    if (words.front() == "accelerators")
        return ignored_option(args, "`catalog accelerators`",
                              {"format", "json", "catalog", "prices"});
    if (words.front() == "prices" || words.front() == "services")
        return ignored_option(args, "`catalog " + words.front() + "`",
                              {"format", "json", "catalog", "prices", "region"});
    return std::nullopt;
}

Result<Outcome> run_catalog(const Args& args, Io& io) {
    if (auto wrong = catalog_mistake(args)) return *std::move(wrong);
    auto loaded = load_catalog(args, io.today);
    if (!loaded) return loaded.error();
    if (args.flag("guide-table")) {
        auto tables = catalog_tables(args);
        if (!tables) return tables.error();
        auto naming = catalog::Naming::load(*tables);
        if (!naming) return naming.error();
        return show_guide_table(*loaded, *naming, io);
    }
    std::vector<std::string> words = args.list("filter");
    const std::vector<std::string> views = {"accelerators", "prices", "services"};
    if (words.empty() || std::find(views.begin(), views.end(), words.front()) == views.end()) {
        return show_instances(*loaded, args, io);
    }
    const std::string view = words.front();
    words.erase(words.begin());
    if (view == "accelerators") return show_accelerators(*loaded, words, format_of(args), io);
    const std::string region = args.given("region") ? args.text("region") : "";
    if (view == "services") return show_services(*loaded, words, region, format_of(args), io);
    return show_prices(*loaded, words, region, format_of(args), io);
}

}  // namespace

Command catalog_command() {
    return {
        .name = "catalog",
        .summary = "List instances, accelerators and prices with their sources",
        .description =
            "A filter is an instance type, the start of one (p5 also shows p5e and p5en) or an "
            "accelerator (H100).\n"
            "`catalog accelerators` lists the accelerators; `catalog prices p5.48xlarge` lists "
            "every price known; `catalog services` what storage and network cost.",
        .examples = {{"trainyard catalog --training --sort price-per-pflop",
                      "Where a training FLOP is cheapest at list price"},
                     {"trainyard catalog --sort efa-per-gpu",
                      "Which instances give an accelerator the most network"},
                     {"trainyard catalog p5 --json", "Everything known about P5, for a program"},
                     {"trainyard catalog prices p5.48xlarge --region us-east-1",
                      "What an instance costs, by purchase type"}},
        .options = options(),
        .positionals =
            {{.name = "filter",
              .help = "types, starts of types or accelerators; or `accelerators`, `prices ITEM…`, "
                      "`services`",
              .min = 0,
              .max = kAnyNumber,
              .names = "instance"}},
        .run = run_catalog};
}

}  // namespace trainyard::cli

#include "command_catalog_input.hpp"

#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "prices.csv" -> "DIR/prices.csv" where the table came from DIR.
Error with_paths(Error error, const Args& args, const catalog::Tables& own) {
    for (Diagnostic& d : error.diagnostics) {
        if (own.count(d.where.file) > 0) d.where.file = args.text("catalog") + "/" + d.where.file;
    }
    return error;
}

}  // namespace

std::vector<Option> catalog_options() {
    return {
        {.name = "catalog",
         .kind = Option::Kind::text,
         .value_name = "DIR",
         .help =
             "folder with tables (accelerators.csv, prices.csv, …) that replace the built-in ones",
         .fallback = {},
         .choices = {}},
        {.name = "prices",
         .kind = Option::Kind::text,
         .value_name = "FILE",
         .help = "CSV of your own prices or discounts: item, region, price_type, usd_per_hour or "
                 "discount",
         .fallback = {},
         .choices = {}}};
}

Result<catalog::Tables> catalog_tables(const Args& args) {
    catalog::Tables tables;
    if (!args.given("catalog")) return tables;
    const std::string folder = args.text("catalog");
    auto files = sys::list_files(folder, ".csv");
    if (!files) return files.error();
    std::vector<std::string> known;
    for (const auto& entry : catalog::Catalog::embedded_tables()) known.push_back(entry.first);
    for (const std::string& path : *files) {
        const std::string name = base_name(path);
        if (catalog::Catalog::embedded_tables().count(name) == 0) {
            const auto near = nearest(name, known);
            return bad_input({Severity::error,
                              {path, 0, 0},
                              "\"" + name + "\" is no table of the catalog",
                              "",
                              near ? "did you mean \"" + *near + "\"?"
                                   : "docs/reference/catalog.md lists the tables"});
        }
        auto text = sys::read_file(path);
        if (!text) return text.error();
        tables[name] = std::move(*text);
    }
    if (tables.empty()) {
        return bad_input({Severity::error,
                          {folder, 0, 0},
                          "the folder has no table",
                          "--catalog wants a folder with .csv files named like the built-in ones",
                          "docs/reference/catalog.md lists the tables"});
    }
    return tables;
}

Result<catalog::Catalog> load_catalog(const Args& args, std::string_view today) {
    auto tables = catalog_tables(args);
    if (!tables) return tables.error();
    auto loaded = catalog::Catalog::load(*tables, today);
    if (!loaded) return with_paths(loaded.error(), args, *tables);
    if (!args.given("prices")) return loaded;
    auto text = sys::read_file(args.text("prices"));
    if (!text) return text.error();
    auto applied = loaded->apply_price_overrides(*text, args.text("prices"), today);
    if (!applied) return applied.error();
    return loaded;
}

}  // namespace trainyard::cli

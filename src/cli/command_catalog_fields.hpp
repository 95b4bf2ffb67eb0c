#pragma once
// Every column of `trainyard catalog`, once: its name, its title, and its cell for people. JSON and
// CSV take their values from the same place (record), in SI units.

#include <string>
#include <vector>

#include "command_catalog_rows.hpp"
#include "table.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::cli {

struct Field {
    std::string name;  ///< for --columns
    Column column;
    std::string (*cell)(const CatalogRow&);
};

const std::vector<Field>& instance_fields();
/// The columns that fit a terminal of 100 characters.
std::vector<std::string> default_fields();

/// One instance as a JSON object; docs/reference/catalog.md lists the keys. Unknown values are
/// null.
doc::Node record(const CatalogRow& row, const catalog::Catalog& catalog);

doc::Node provenance_node(const catalog::Provenance& p);
/// Flat map of a list of objects: nested objects become "outer.inner", lists are joined with ';'.
std::string csv_text(const std::vector<doc::Node>& rows);

}  // namespace trainyard::cli

#pragma once
// The catalog that a command works on: the embedded tables, --catalog DIR over them, --prices FILE
// over its prices.

#include "command.hpp"
#include "trainyard/catalog/catalog.hpp"

namespace trainyard::cli {

/// The options `catalog` and `prices`, to be listed by every command that reads the catalog.
std::vector<Option> catalog_options();

/// The tables of --catalog DIR (empty without it). A file there that is no table is refused: a slip
/// would be ignored otherwise.
Result<catalog::Tables> catalog_tables(const Args& args);

/// Parsed, with --prices applied. Diagnostics name the user's files by their path.
Result<catalog::Catalog> load_catalog(const Args& args, std::string_view today);

}  // namespace trainyard::cli

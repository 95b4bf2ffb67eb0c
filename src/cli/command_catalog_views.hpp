#pragma once
// The views of `trainyard catalog` besides the list of instances.

#include "command.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/catalog/decode.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::cli {

enum class Format { table, json, csv };
Format format_of(const Args& args);

/// `catalog accelerators [FILTER…]`
Result<Outcome> show_accelerators(const catalog::Catalog& catalog,
                                  const std::vector<std::string>& filters, Format format, Io& io);
/// `catalog prices ITEM…`: every price of an instance, a family, an accelerator or a provider's
/// item; of `region` if not empty.
Result<Outcome> show_prices(const catalog::Catalog& catalog, const std::vector<std::string>& items,
                            const std::string& region, Format format, Io& io);
/// `catalog services [KEY…]`: prices of storage, network and control planes; of `region` if not
/// empty.
Result<Outcome> show_services(const catalog::Catalog& catalog,
                              const std::vector<std::string>& words, const std::string& region,
                              Format format, Io& io);
/// `catalog --guide-table`: the guide's four rows beside ours.
Result<Outcome> show_guide_table(const catalog::Catalog& catalog, const catalog::Naming& naming,
                                 Io& io);

/// Wraps rows as {"schema": "trainyard.catalog", …}.
std::string catalog_json(std::string_view view, std::vector<doc::Node> rows, const Io& io);

}  // namespace trainyard::cli

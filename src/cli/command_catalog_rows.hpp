#pragma once
// What `trainyard catalog` lists: instances that pass the filters, in the asked order, with their
// price.

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "trainyard/catalog/catalog.hpp"

namespace trainyard::cli {

struct CatalogQuery {
    std::vector<std::string>
        filters;  ///< type or prefix of one ("p5"), or an accelerator; any may match
    std::vector<std::string> families;      ///< exact
    std::vector<std::string> accelerators;  ///< id or alias
    std::optional<Bytes> min_memory;  ///< per accelerator, as sold or as reported: 79.2 GiB passes
                                      ///< 80GiB, 74 does not
    std::string region;
    catalog::PurchaseType purchase = catalog::PurchaseType::on_demand;
    std::string sort;  ///< one of sort_keys(), empty for the table's order
    bool is_reversed = false;
    bool for_training = false;  ///< only whole accelerators that are sold for training, not retired
    bool with_all = false;      ///< also retired types and types without accelerator
};

struct CatalogRow {
    const catalog::Instance* instance = nullptr;
    const catalog::Accelerator* accelerator = nullptr;  ///< nullptr for head-node types
    std::optional<catalog::Price> price;                ///< of the query's purchase type and region

    /// Of all cards together over the accelerators; nullopt without EFA.
    std::optional<BytesPerSecond> efa_per_accelerator() const;
    std::optional<UsdPerSecond> price_per_accelerator() const;
    /// Dollars per hour and dense PFLOP/s in bf16 (fp16 where the device has no bf16).
    std::optional<double> usd_per_pflop_hour() const;
};

std::vector<std::string> sort_keys();

/// Unknown filters, families and accelerators are diagnostics with the nearest name.
Result<std::vector<CatalogRow>> catalog_rows(const catalog::Catalog& catalog,
                                             const CatalogQuery& query);

/// "8 x H100-80", "1/8 x L4-24", "-".
std::string accelerators_text(const catalog::Instance& instance);

}  // namespace trainyard::cli

#pragma once
// What spot costs in one region: the market has a price per zone, and nobody chooses the cheapest
// zone and gets it. Expected is the median over the zones of the newest snapshot (or its average
// row, where that is all a source gives); the cheapest and the dearest zone give the range.

#include <optional>
#include <string>

#include "trainyard/catalog/catalog.hpp"

namespace trainyard::plan {

struct SpotPrice {
    catalog::Price expected;  ///< rate: the median; source and date of the snapshot
    double low = 1;           ///< cheapest zone / expected
    double high = 1;          ///< dearest zone / expected
};

/// nullopt if nobody published a spot price of this type in this region.
std::optional<SpotPrice> spot_price(const catalog::Catalog& catalog, const std::string& instance,
                                    const std::string& region);

}  // namespace trainyard::plan

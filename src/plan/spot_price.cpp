#include "spot_price.hpp"

#include <algorithm>
#include <vector>

namespace trainyard::plan {

std::optional<SpotPrice> spot_price(const catalog::Catalog& catalog, const std::string& instance,
                                    const std::string& region) {
    auto newest = catalog.price(instance, catalog::PurchaseType::spot, region);
    if (!newest) return std::nullopt;
    std::vector<UsdPerSecond> samples;
    UsdPerSecond low = newest->rate;
    UsdPerSecond high = newest->rate;
    for (const catalog::Price& p : catalog.prices()) {
        if (p.item != instance || p.region != region || p.purchase != catalog::PurchaseType::spot ||
            p.provenance.as_of != newest->provenance.as_of)
            continue;
        low = std::min(low, p.rate);
        high = std::max(high, p.rate);
        if (p.detail != "lowest zone" && p.detail != "highest zone") samples.push_back(p.rate);
    }
    std::sort(samples.begin(), samples.end());
    const std::size_t half = samples.size() / 2;
    SpotPrice s{std::move(*newest), 1, 1};
    s.expected.rate =
        samples.size() % 2 == 1 ? samples[half] : 0.5 * (samples[half - 1] + samples[half]);
    s.low = low / s.expected.rate;
    s.high = high / s.expected.rate;
    return s;
}

}  // namespace trainyard::plan

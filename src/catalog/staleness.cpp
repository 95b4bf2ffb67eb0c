#include "trainyard/catalog/staleness.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace trainyard::catalog {

std::vector<Diagnostic> stale_prices(std::span<const Price> prices, std::string_view today,
                                     int limit_days, std::size_t most) {
    struct Stale {
        std::string what;
        std::string as_of;
        int age;
    };
    std::map<std::string, Stale> oldest;
    for (const Price& p : prices) {
        const auto age = age_in_days(p.provenance.as_of, today);
        if (!age || *age <= limit_days) continue;
        const std::string what =
            p.item + " " + std::string(to_string(p.purchase)) + " in " + p.region;
        const auto [it, added] = oldest.try_emplace(what, Stale{what, p.provenance.as_of, *age});
        if (!added && *age > it->second.age) it->second = {what, p.provenance.as_of, *age};
    }
    std::vector<Stale> all;
    for (auto& entry : oldest) all.push_back(std::move(entry.second));
    std::stable_sort(all.begin(), all.end(),
                     [](const Stale& a, const Stale& b) { return a.age > b.age; });
    std::vector<Diagnostic> out;
    for (std::size_t i = 0; i < all.size() && i < most; ++i) {
        out.push_back({Severity::warning,
                       {},
                       "the price of " + all[i].what + " is of " + all[i].as_of + ", " +
                           std::to_string(all[i].age) + " days old",
                       "prices older than " + std::to_string(limit_days) + " days may have changed",
                       "give today's with --prices FILE (see docs/reference/catalog.md)"});
    }
    if (all.size() > most) {
        out.push_back({Severity::warning,
                       {},
                       std::to_string(all.size() - most) +
                           (all.size() - most == 1 ? " more price is" : " more prices are") +
                           " older than " + std::to_string(limit_days) + " days",
                       "",
                       ""});
    }
    return out;
}

}  // namespace trainyard::catalog

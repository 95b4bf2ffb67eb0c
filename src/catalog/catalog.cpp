#include "trainyard/catalog/catalog.hpp"

#include <algorithm>

#include "date.hpp"
#include "embedded.hpp"
#include "loader.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::catalog {

namespace {

template <typename Index>
std::optional<std::string> nearest_key(const Index& index, std::string_view name) {
    std::vector<std::string> keys;
    keys.reserve(index.size());
    for (const auto& entry : index) keys.push_back(entry.first);
    return nearest(name, keys);
}

/// A row that only says between which values the others lie.
bool is_bound(const Price& p) { return p.detail == "lowest zone" || p.detail == "highest zone"; }

/// True if `a` is the better answer: newer first, then cheaper.
bool better(const Price& a, const Price& b) {
    const int day_a = day_number(a.provenance.as_of).value_or(0);
    const int day_b = day_number(b.provenance.as_of).value_or(0);
    if (day_a != day_b) return day_a > day_b;
    return a.rate < b.rate;
}

}  // namespace

const Tables& Catalog::embedded_tables() { return embedded_files(); }

Result<Catalog> Catalog::load(const Tables& tables, std::string_view today) {
    Tables all = tables;
    all.insert(embedded_tables().begin(), embedded_tables().end());
    return Loader(all, tables, today).load();
}

const Accelerator* Catalog::accelerator(std::string_view id) const {
    const auto found = accelerator_index_.find(id);
    return found == accelerator_index_.end() ? nullptr : &accelerators_[found->second];
}

const Instance* Catalog::instance(std::string_view type) const {
    const auto found = instance_index_.find(type);
    return found == instance_index_.end() ? nullptr : &instances_[found->second];
}

std::optional<std::string> Catalog::nearest_accelerator(std::string_view id) const {
    return nearest_key(accelerator_index_, id);
}

std::optional<std::string> Catalog::nearest_instance(std::string_view type) const {
    return nearest_key(instance_index_, type);
}

void Catalog::index_prices() {
    price_index_.clear();
    for (std::size_t i = 0; i < prices_.size(); ++i) price_index_.emplace(prices_[i].item, i);
}

std::optional<Price> Catalog::price(std::string_view instance, PurchaseType purchase,
                                    std::string_view region) const {
    const Price* best = nullptr;
    const auto [first, last] = price_index_.equal_range(instance);
    for (auto it = first; it != last; ++it) {
        const Price& p = prices_[it->second];
        if (p.purchase != purchase || p.region != region || is_bound(p)) continue;
        if (best == nullptr || better(p, *best)) best = &p;
    }
    if (best == nullptr) return std::nullopt;
    return *best;
}

std::optional<InterruptionBand> Catalog::interruption(std::string_view instance,
                                                      std::string_view region) const {
    const InterruptionBand* best = nullptr;
    for (const InterruptionBand& b : bands_) {
        if (b.instance != instance || b.region != region) continue;
        if (best == nullptr || day_number(b.provenance.as_of) > day_number(best->provenance.as_of))
            best = &b;
    }
    if (best == nullptr) return std::nullopt;
    return *best;
}

std::optional<ServicePrice> Catalog::service(std::string_view key, std::string_view region) const {
    for (const ServicePrice& s : services_) {
        if (s.key == key && s.region == region) return s;
    }
    return std::nullopt;
}

}  // namespace trainyard::catalog

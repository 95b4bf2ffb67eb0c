#include "command_catalog_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard::cli {

using catalog::Accelerator;
using catalog::Catalog;
using catalog::Instance;

std::optional<BytesPerSecond> CatalogRow::efa_per_accelerator() const {
    if (instance->efa != catalog::Yes::yes || !instance->network || instance->accelerators < 1)
        return std::nullopt;
    return *instance->network / static_cast<double>(instance->accelerators);
}

std::optional<UsdPerSecond> CatalogRow::price_per_accelerator() const {
    if (!price || instance->accelerators < 1) return std::nullopt;
    return price->rate / static_cast<double>(instance->accelerators);
}

std::optional<double> CatalogRow::usd_per_pflop_hour() const {
    if (accelerator == nullptr || !price_per_accelerator()) return std::nullopt;
    auto peak = accelerator->peak_for(catalog::Precision::bf16);
    if (!peak) peak = accelerator->peak_for(catalog::Precision::fp16);
    if (!peak) return std::nullopt;
    return (*price_per_accelerator() / kUsdPerHour) / (*peak / (1000 * kTFlopPerSecond));
}

std::string accelerators_text(const Instance& i) {
    if (i.accelerator.empty()) return "-";
    if (i.accelerator_share)
        return fmt::format("1/{:.0f} x {}", 1 / *i.accelerator_share, i.accelerator);
    return fmt::format("{} x {}", i.accelerators, i.accelerator);
}

namespace {

/// What a row is worth under a sort key; nullopt (unknown) goes last whatever the direction.
using Key = std::optional<double> (*)(const CatalogRow&);
struct SortKey {
    const char* name;
    bool is_descending;
    Key key;
};

std::optional<double> base(std::optional<BytesPerSecond> v) {
    return v ? std::optional(v->base()) : std::nullopt;
}
std::optional<double> base(std::optional<UsdPerSecond> v) {
    return v ? std::optional(v->base()) : std::nullopt;
}

const SortKey kSortKeys[] = {
    {"efa-per-gpu", true, [](const CatalogRow& r) { return base(r.efa_per_accelerator()); }},
    {"network", true, [](const CatalogRow& r) { return base(r.instance->network); }},
    {"price", false,
     [](const CatalogRow& r) {
         return r.price ? std::optional(r.price->rate.base()) : std::nullopt;
     }},
    {"price-per-gpu", false, [](const CatalogRow& r) { return base(r.price_per_accelerator()); }},
    {"price-per-pflop", false, [](const CatalogRow& r) { return r.usd_per_pflop_hour(); }},
    {"memory", true,
     [](const CatalogRow& r) {
         return r.accelerator == nullptr
                    ? std::nullopt
                    : std::optional(r.accelerator->memory.base() * r.instance->accelerators);
     }},
    {"memory-per-gpu", true,
     [](const CatalogRow& r) {
         return r.accelerator == nullptr ? std::nullopt
                                         : std::optional(r.accelerator->memory.base());
     }},
    {"vcpu", true, [](const CatalogRow& r) { return std::optional<double>(r.instance->vcpu); }},
    {"launch", true,
     [](const CatalogRow& r) -> std::optional<double> {
         const auto day = catalog::age_in_days("1970", r.instance->launch);
         return day ? std::optional<double>(*day) : std::nullopt;
     }},
};

void sort_rows(std::vector<CatalogRow>& rows, const CatalogQuery& query) {
    if (query.sort == "type") {
        std::stable_sort(rows.begin(), rows.end(), [](const CatalogRow& a, const CatalogRow& b) {
            return a.instance->type < b.instance->type;
        });
    }
    for (const SortKey& s : kSortKeys) {
        if (query.sort != s.name) continue;
        const bool is_descending = s.is_descending != query.is_reversed;
        std::stable_sort(rows.begin(), rows.end(), [&](const CatalogRow& a, const CatalogRow& b) {
            const auto x = s.key(a);
            const auto y = s.key(b);
            if (!x || !y) return x.has_value() && !y.has_value();
            return is_descending ? *x > *y : *x < *y;
        });
        return;
    }
    if (query.is_reversed) std::reverse(rows.begin(), rows.end());
}

bool is_accelerator_of(const Catalog& c, const Instance& i, const std::string& name) {
    const Accelerator* a = c.accelerator(name);
    return a != nullptr && a->id == i.accelerator;
}

bool matches(const Catalog& c, const Instance& i, const std::string& filter) {
    return i.type.starts_with(filter) || is_accelerator_of(c, i, filter);
}

/// Names that a mistyped filter could have meant.
std::vector<std::string> filter_names(const Catalog& c) {
    std::vector<std::string> names;
    for (const Instance& i : c.instances()) {
        names.push_back(i.type);
        if (names.empty() || i.family != names.back()) names.push_back(i.family);
    }
    for (const Accelerator& a : c.accelerators()) {
        names.push_back(a.id);
        names.insert(names.end(), a.aliases.begin(), a.aliases.end());
    }
    return names;
}

Diagnostic unknown(std::string_view what, const std::string& word,
                   const std::vector<std::string>& names) {
    const auto near = nearest(word, names);
    return {Severity::error,
            {},
            fmt::format("no {} matches \"{}\"", what, word),
            "",
            near ? fmt::format("did you mean \"{}\"?", *near)
                 : "`trainyard catalog --all` lists the instances, `trainyard catalog "
                   "accelerators` the accelerators"};
}

std::vector<Diagnostic> check(const Catalog& c, const CatalogQuery& q) {
    std::vector<Diagnostic> mistakes;
    const auto& all = c.instances();
    for (const std::string& f : q.filters) {
        if (std::none_of(all.begin(), all.end(),
                         [&](const Instance& i) { return matches(c, i, f); })) {
            mistakes.push_back(unknown("instance", f, filter_names(c)));
        }
    }
    for (const std::string& f : q.families) {
        if (std::none_of(all.begin(), all.end(),
                         [&](const Instance& i) { return i.family == f; })) {
            std::vector<std::string> families;
            for (const Instance& i : all) families.push_back(i.family);
            mistakes.push_back(unknown("family", f, families));
        }
    }
    for (const std::string& a : q.accelerators) {
        if (c.accelerator(a) != nullptr) continue;
        std::vector<std::string> names;
        for (const Accelerator& known : c.accelerators()) {
            names.push_back(known.id);
            names.insert(names.end(), known.aliases.begin(), known.aliases.end());
        }
        mistakes.push_back(unknown("accelerator", a, names));
    }
    return mistakes;
}

bool is_wanted(const Catalog& c, const CatalogQuery& q, const Instance& i) {
    const auto any = [](const std::vector<std::string>& names, const auto& is_match) {
        return names.empty() || std::any_of(names.begin(), names.end(), is_match);
    };
    const bool is_named = !q.filters.empty() || !q.families.empty();
    if (!q.with_all && !is_named && (i.retired || i.accelerator.empty())) return false;
    if (q.for_training && (i.retired || i.accelerators < 1 ||
                           c.accelerator(i.accelerator)->use != catalog::Use::training)) {
        return false;
    }
    if (!any(q.filters, [&](const std::string& f) { return matches(c, i, f); })) return false;
    if (!any(q.families, [&](const std::string& f) { return i.family == f; })) return false;
    if (!any(q.accelerators, [&](const std::string& a) { return is_accelerator_of(c, i, a); }))
        return false;
    if (!q.min_memory) return true;
    // The device reports a little less than it is sold with (79.2 of 80 GiB): 2 % off still counts.
    const Accelerator* a = c.accelerator(i.accelerator);
    return a != nullptr && a->memory * (i.accelerator_share.value_or(1) * 1.02) >= *q.min_memory;
}

}  // namespace

std::vector<std::string> sort_keys() {
    std::vector<std::string> names = {"type"};
    for (const SortKey& s : kSortKeys) names.emplace_back(s.name);
    return names;
}

Result<std::vector<CatalogRow>> catalog_rows(const Catalog& catalog, const CatalogQuery& query) {
    std::vector<Diagnostic> mistakes = check(catalog, query);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    std::vector<CatalogRow> rows;
    for (const Instance& i : catalog.instances()) {
        if (!is_wanted(catalog, query, i)) continue;
        rows.push_back({&i, catalog.accelerator(i.accelerator),
                        catalog.price(i.type, query.purchase, query.region)});
    }
    sort_rows(rows, query);
    return rows;
}

}  // namespace trainyard::cli

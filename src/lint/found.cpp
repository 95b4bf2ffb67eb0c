#include "found.hpp"

#include <fmt/format.h>

#include "trainyard/lint/performance.hpp"

namespace trainyard::lint {

Finding& Found::at(const Location& where, std::string what) {
    Finding f;
    f.rule = rule_.id;
    f.severity = rule_.severity;
    f.where = where;
    f.what = std::move(what);
    f.why = rule_.why;
    f.fix = rule_.fix;
    f.holds_for = rule_.holds_for;
    f.needs_account = rule_.certainty == Certainty::account;
    into_.push_back(std::move(f));
    return into_.back();
}

Finding& Found::at(const Said& said, std::string what) {
    Finding& f = at(said.where, std::move(what));
    f.text = said.text;
    return f;
}

std::optional<UsdPerSecond> price_of(const Case& c, std::string_view type, std::int64_t nodes) {
    const auto price = c.price(type);
    if (!price || nodes <= 0) return std::nullopt;
    return *price * static_cast<double>(nodes);
}

std::optional<double> lost_over_tcp(const Case& c, std::string_view type, std::int64_t nodes) {
    const catalog::Instance* i = c.instance(type);
    if (c.performance == nullptr || i == nullptr || nodes < 2 || nodes > 4'096) return std::nullopt;
    return c.performance->lost_over_tcp(*c.catalog, *i, static_cast<int>(nodes));
}

std::optional<UsdPerSecond> spot_saving(const Case& c, std::string_view type, std::int64_t nodes) {
    const auto all = price_of(c, type, nodes);
    const catalog::Instance* i = c.instance(type);
    const auto spot = i == nullptr
                          ? std::nullopt
                          : c.catalog->price(i->type, catalog::PurchaseType::spot, "us-east-1");
    if (!all || !spot) return std::nullopt;
    const UsdPerSecond saved = *all - static_cast<double>(nodes) * spot->rate;
    return saved > UsdPerSecond{} ? std::optional(saved) : std::nullopt;
}

std::string price_words(const Case& c, std::string_view type, std::int64_t nodes) {
    const auto rate = price_of(c, type, nodes);
    if (!rate) return {};
    const double per_hour = *rate / (kUsd / kHour);
    return fmt::format("{}x {} at ${:.2f}/h", nodes, type, per_hour);
}

}  // namespace trainyard::lint

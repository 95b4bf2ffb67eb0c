// `--prices FILE`: the user's own prices and discounts over the table's.

#include <algorithm>

#include "table_row.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::catalog {

namespace {

constexpr std::string_view kRequired[] = {"item", "region", "price_type"};
constexpr std::string_view kOptional[] = {"usd_per_hour", "discount", "as_of", "source", "detail"};

/// "0.12" or "12 %".
std::optional<double> parse_fraction(std::string_view s) {
    s = trim(s);
    const bool percent = !s.empty() && s.back() == '%';
    if (percent) s.remove_suffix(1);
    const std::optional<double> v = parse_number(trim(s));
    if (!v) return std::nullopt;
    return percent ? *v / 100 : *v;
}

struct Override {
    std::string item;
    std::string region;
    PurchaseType purchase = PurchaseType::on_demand;
    std::string detail;
    std::optional<double> usd_per_hour;
    std::optional<double> discount;
    Provenance provenance;
};

class Applier {
  public:
    Applier(const Catalog& catalog, std::vector<Price>& prices)
        : catalog_(catalog), prices_(prices) {}

    bool apply(const Override& o) { return o.usd_per_hour ? replace(o) : discount(o); }

  private:
    bool replace(const Override& o) {
        const auto same = [&](const Price& p) {
            return p.item == o.item && p.region == o.region && p.purchase == o.purchase;
        };
        prices_.erase(std::remove_if(prices_.begin(), prices_.end(), same), prices_.end());
        const Instance& instance = *catalog_.instance(o.item);
        prices_.push_back({"AWS", o.item, instance.accelerator, instance.accelerators, o.region, "",
                           o.purchase, o.detail, *o.usd_per_hour * kUsdPerHour, o.provenance});
        return true;
    }

    bool discount(const Override& o) {
        bool any = false;
        for (Price& p : prices_) {
            const bool family = p.item.substr(0, p.item.find('.')) == o.item;
            if (p.provider != "AWS" || (p.item != o.item && !family) || p.purchase != o.purchase)
                continue;
            if (o.region != "*" && p.region != o.region) continue;
            p.rate *= 1 - *o.discount;
            p.provenance.source = o.provenance.source + " over " + p.provenance.source;
            any = true;
        }
        return any;
    }

    const Catalog& catalog_;
    std::vector<Price>& prices_;
};

void check_price_type(TableRow& row, Override& o) {
    const std::string text = row.required("price_type");
    if (const auto parsed = parse_purchase(text)) {
        o.purchase = *parsed;
        return;
    }
    const std::vector<std::string> names = {
        "on_demand",       "spot",          "reserved_1y", "reserved_3y", "savings_plan_1y",
        "savings_plan_3y", "capacity_block"};
    const auto near = nearest(text, names);
    if (!text.empty()) {
        row.error(
            "price_type", "price_type: \"" + text + "\" is not known", "",
            near ? "did you mean \"" + *near + "\"?" : "one of on_demand, spot, reserved_1y, …");
    }
}

void check_item(TableRow& row, const Catalog& catalog, const Override& o) {
    if (o.item.empty() || catalog.instance(o.item) != nullptr) return;
    const auto& all = catalog.instances();
    const bool family =
        std::any_of(all.begin(), all.end(), [&](const Instance& i) { return i.family == o.item; });
    if (family && o.discount) return;
    const auto near = catalog.nearest_instance(o.item);
    row.error("item", "instance \"" + o.item + "\" does not exist",
              family ? "only a discount can name a whole family" : "",
              near ? "did you mean \"" + *near + "\"?" : "`trainyard catalog` lists the instances");
}

Override read_override(TableRow& row, const Catalog& catalog, std::string_view file) {
    Override o;
    o.item = row.required("item");
    o.region = row.required("region");
    check_price_type(row, o);
    o.detail = row.text("detail").empty() ? "your price" : row.text("detail");
    o.usd_per_hour = row.positive("usd_per_hour");
    if (o.usd_per_hour.value_or(0) * kUsdPerHour > kMostPerHour)
        row.error("usd_per_hour", "usd_per_hour is over a million dollars an hour");
    const std::string discount = row.text("discount");
    if (!discount.empty()) {
        o.discount = parse_fraction(discount);
        if (!o.discount || *o.discount <= 0 || *o.discount >= 1) {
            row.error("discount", "discount: \"" + discount + "\" is not between 0 and 1", "",
                      "write 0.12 or 12 %");
        }
    }
    if (row.text("usd_per_hour").empty() == discount.empty()) {
        row.error("usd_per_hour", "a row needs either usd_per_hour or discount", "",
                  "fill one of the two cells");
    }
    if (o.region == "*" && discount.empty())
        row.error("region", "region \"*\" is for discounts only", "", "name the region");
    check_item(row, catalog, o);
    const std::string as_of = row.text("as_of");
    if (!as_of.empty() && !age_in_days(as_of, "2026-01-01")) {
        row.error("as_of", "as_of: \"" + as_of + "\" is not a date", "", "write YYYY-MM-DD");
    }
    const std::string source = row.text("source");
    o.provenance = {source.empty() ? "your price file " + std::string(file) : source, as_of,
                    Status::vendor_list};
    return o;
}

}  // namespace

Result<int> Catalog::apply_price_overrides(std::string_view text, std::string_view file,
                                           std::string_view today) {
    auto table = doc::parse_csv(text, file);
    if (!table) return table.error();
    std::vector<Diagnostic> problems;
    if (!check_columns(*table, kRequired, kOptional, problems))
        return bad_input(std::move(problems));
    const Sources none;
    std::vector<Price> prices = prices_;
    Applier applier(*this, prices);
    for (std::size_t i = 0; i < table->size(); ++i) {
        TableRow row(*table, i, none, problems);
        const std::size_t before = problems.size();
        const Override o = read_override(row, *this, file);
        row.refuse_future(o.provenance.as_of, today);
        if (problems.size() == before && !applier.apply(o)) {
            row.error("discount", "the discount meets no price",
                      "no row of the price table has this item, region and price_type",
                      "give usd_per_hour instead");
        }
    }
    if (!problems.empty()) return bad_input(std::move(problems));
    prices_ = std::move(prices);
    index_prices();
    return static_cast<int>(table->size());
}

}  // namespace trainyard::catalog

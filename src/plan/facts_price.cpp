#include "facts_price.hpp"

namespace trainyard::plan {

bool is_own_price(const catalog::Provenance& p) { return p.source.starts_with("your price file"); }

std::string price_date(const catalog::Provenance& p) {
    if (p.as_of.empty()) return is_own_price(p) ? "your price file" : "no date";
    return p.as_of.size() == 4 ? "dated " + p.as_of : p.as_of;
}

std::string price_age(const catalog::Provenance& p, int days) {
    // "2026" counts from its first day: the number of days would be invented.
    if (p.as_of.size() <= 4) return price_date(p);
    return std::to_string(days) + " days old";
}

std::string bill_detail(const BillItem& item) {
    return item.detail + (is_own_price(item.provenance) ? ", your price" : "");
}

}  // namespace trainyard::plan

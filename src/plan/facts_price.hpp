#pragma once
// How old a price is, in words. A price that the user gave is theirs, whatever its age.

#include <string>

#include "trainyard/plan/bill.hpp"

namespace trainyard::plan {

/// From --prices.
bool is_own_price(const catalog::Provenance& p);
/// "2026-07-22", "dated 2026" where only the year is known, "your price file" for one's own price
/// without a date.
std::string price_date(const catalog::Provenance& p);
/// "132 days old", or "dated 2026" where the day is not known.
std::string price_age(const catalog::Provenance& p, int days);
/// The detail of a bill line; one's own price is named.
std::string bill_detail(const BillItem& item);

}  // namespace trainyard::plan

#pragma once
// Short texts for numbers that the plan's sentences share.

#include <string>

#include "trainyard/plan/offer.hpp"

namespace trainyard::plan {

std::string money(MicroUsd m);          ///< "$12,345"
std::string money_short(MicroUsd m);    ///< "$12,345", "$72.8M" from ten million
std::string money_compact(MicroUsd m);  ///< "$8.05", "$3,569", "$15.0k", "$1.2M"
/// "3.1 to 6.4 d": one unit for both ends.
std::string time_span(Seconds low, Seconds high);
std::string money_range(
    const MoneyRange& r);  ///< "$11,900 to $13,400", or one number if paid up front
std::string time_range(const TimeRange& r);  ///< "22.1 d (20.4 to 24.8 d)"
std::string gb(Bytes b);                     ///< "182 GB"
std::string per_hour(UsdPerSecond r);        ///< "$41.53/h"
std::string percent(double fraction);        ///< "41 %"
std::string times(double factor);            ///< "1.3x", "14x"
std::string more(double ratio);              ///< 1.05 -> "5.0 %", 1.4 -> "40 %", 12 -> "12x"
std::string plural(int n, const std::string& word);      ///< "1 node", "8 nodes"
std::string device_name(const catalog::Accelerator& a);  ///< "H100", "A100 40 GB", "L40S"
std::string grouped(long n);                             ///< "1,536"
std::string purchase_words(
    const Offer& o);  ///< "on demand", "Capacity Block (28 d)", "mixed: 4 + 4 spot"

}  // namespace trainyard::plan

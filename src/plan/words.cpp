#include "words.hpp"

#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard::plan {

std::string money(MicroUsd m) { return format_usd(to_usd(m)); }

std::string money_short(MicroUsd m) {
    const double usd = to_usd(m) / kUsd;
    if (usd >= 1e7) return "$" + format_fixed(usd / 1e6, usd >= 1e8 ? 0 : 1) + "M";
    return usd < 100 ? format_usd_cents(to_usd(m)) : "$" + grouped(std::lround(usd));
}

std::string money_compact(MicroUsd m) {
    const double usd = to_usd(m) / kUsd;
    if (usd >= 1e6) return "$" + format_fixed(usd / 1e6, usd >= 1e8 ? 0 : 1) + "M";
    if (usd >= 1e4) return "$" + format_fixed(usd / 1e3, 1) + "k";
    return money_short(m);
}

std::string time_span(Seconds low, Seconds high) {
    const auto in = [&](Seconds unit, const char* name) {
        const int digits = high / unit < 100 ? 1 : 0;
        return format_fixed(low / unit, digits) + " to " + format_fixed(high / unit, digits) + " " +
               name;
    };
    if (high >= 2 * kDay) return in(kDay, "d");
    if (high >= 2 * kHour) return in(kHour, "h");
    return in(kMinute, "min");
}

std::string more(double ratio) {
    if (ratio >= 3) return times(ratio);
    return format_fixed((ratio - 1) * 100, ratio < 1.1 ? 1 : 0) + " %";
}

std::string money_range(const MoneyRange& r) {
    const double low = static_cast<double>(r.low.value);
    const double high = static_cast<double>(r.high.value);
    if (high - low <= 0.002 * high) return money(r.expected);
    return money(r.low) + " to " + money(r.high);
}

std::string time_range(const TimeRange& r) {
    return format_duration(r.expected) + " (" + format_duration(r.low) + " to " +
           format_duration(r.high) + ")";
}

std::string gb(Bytes b) {
    if (b >= 1000 * kGB) return format_fixed(b / kTB, 2) + " TB";
    if (b >= 10 * kGB) return format_fixed(b / kGB, 0) + " GB";
    if (b >= 1 * kGB) return format_fixed(b / kGB, 1) + " GB";
    return format_fixed(b / kMB, 0) + " MB";
}

std::string per_hour(UsdPerSecond r) { return "$" + format_fixed(r / kUsdPerHour, 2) + "/h"; }

std::string percent(double fraction) { return format_fixed(fraction * 100, 0) + " %"; }

std::string times(double factor) { return format_fixed(factor, factor < 10 ? 1 : 0) + "x"; }

std::string plural(int n, const std::string& word) {
    return grouped(n) + " " + word + (n == 1 ? "" : "s");
}

std::string device_name(const catalog::Accelerator& a) {
    const std::size_t dash = a.id.find('-');
    std::string family = a.id.substr(0, dash);
    // Only the A100 and V100 come in two sizes that decide what fits.
    if (family == "A100" || family == "V100") return family + " " + a.id.substr(dash + 1) + " GB";
    return family;
}

std::string grouped(long n) {
    std::string digits = std::to_string(n);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

std::string purchase_words(const Offer& o) {
    std::string s(to_string(o.purchase));
    if (o.purchase == Purchase::capacity_block && o.block_days)
        s += ", " + std::to_string(*o.block_days) + " d";
    if (o.purchase == Purchase::mixed) s = o.note;
    return s;
}

}  // namespace trainyard::plan

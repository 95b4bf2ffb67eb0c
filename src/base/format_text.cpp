#include <fmt/format.h>

#include <array>
#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard {

namespace {

struct Scale {
    double size;
    std::string_view suffix;
};

/// Three significant digits, but never fewer than the whole part: 8.03, 72.4, 405.
std::string three_digits(double value) {
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string without_trailing_zeros(std::string s) {
    if (s.find('.') != std::string::npos) {
        s.erase(s.find_last_not_of('0') + 1);
        if (s.back() == '.') {
            s.pop_back();
        }
    }
    return s;
}

/// "1234567.89" -> "1,234,567.89"
std::string with_grouping(std::string digits) {
    std::size_t at = std::min(digits.find('.'), digits.size());
    while (at > 3) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string money(double amount, int decimals) {
    const std::string digits = fmt::format("{:.{}f}", std::abs(amount), decimals);
    const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
    return (amount < 0 && !is_zero ? "-$" : "$") + with_grouping(digits);
}

std::string not_finite(double value) {
    return std::isnan(value) ? "n/a" : value < 0 ? "-infinite" : "infinite";
}

}  // namespace

std::string format_count(double n) {
    static constexpr std::array<Scale, 5> kScales = {
        {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "B"}, {1e12, "T"}}};
    if (!std::isfinite(n)) {
        return not_finite(n);
    }
    if (n < 0) {
        return "-" + format_count(-n);
    }
    std::size_t at = 0;
    // 999.5 of a unit would print as 1000 of it.
    while (at + 1 < kScales.size() && n >= 999.5 * kScales[at].size) {
        ++at;
    }
    return without_trailing_zeros(three_digits(n / kScales[at].size)) +
           std::string(kScales[at].suffix);
}

std::string format_duration(Seconds t) {
    const double s = t / kSecond;
    if (!std::isfinite(s)) {
        return not_finite(s);
    }
    if (s < 0) {
        return "-" + format_duration(-t);
    }
    if (s == 0) {
        return "0 s";
    }
    if (t >= 9999.5 * kDay) {
        return with_grouping(format_fixed(t / kDay, 0)) + " d";
    }
    // Each limit is where the smaller unit would round up to the larger one.
    if (t >= 23.95 * kHour) {
        return format_fixed(t / kDay, 1) + " d";
    }
    if (t >= 59.5 * kMinute) {
        return format_fixed(t / kHour, 1) + " h";
    }
    if (s >= 59.95) {
        return format_fixed(t / kMinute, t < 9.95 * kMinute ? 1 : 0) + " min";
    }
    if (s >= 0.9995) {
        return format_fixed(s, s < 9.995 ? 2 : 1) + " s";
    }
    const bool milliseconds = s >= 0.9995e-3;
    return without_trailing_zeros(three_digits(milliseconds ? s * 1e3 : s * 1e6)) +
           (milliseconds ? " ms" : " us");
}

std::string format_usd(Usd amount) {
    const double dollars = amount / kUsd;
    if (!std::isfinite(dollars)) {
        return not_finite(dollars);
    }
    return money(dollars, std::abs(dollars) < 9999.995 ? 2 : 0);
}

std::string format_usd_cents(Usd amount) {
    const double dollars = amount / kUsd;
    return std::isfinite(dollars) ? money(dollars, 2) : not_finite(dollars);
}

std::string format_bytes(Bytes n) {
    static constexpr std::array<std::string_view, 6> kUnits = {"B",   "KiB", "MiB",
                                                               "GiB", "TiB", "PiB"};
    double value = n / kByte;
    if (!std::isfinite(value)) {
        return not_finite(value);
    }
    if (value < 0) {
        return "-" + format_bytes(-n);
    }
    std::size_t at = 0;
    while (at + 1 < kUnits.size() && value >= 1023.5) {
        value /= 1024;
        ++at;
    }
    return (at == 0 ? format_fixed(value, 0) : three_digits(value)) + " " + std::string(kUnits[at]);
}

std::string format_percent(double fraction) {
    return std::isfinite(fraction) ? format_fixed(fraction * 100, 1) + " %" : not_finite(fraction);
}

std::string format_fixed(double value, int decimals) {
    if (!std::isfinite(value)) {
        return not_finite(value);
    }
    std::string out = fmt::format("{:.{}f}", value, decimals);
    // "-0.0" is noise.
    if (out.starts_with('-') && out.find_first_not_of("-0.") == std::string::npos) {
        out.erase(0, 1);
    }
    return out;
}

}  // namespace trainyard

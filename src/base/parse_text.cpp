#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct NumberAndUnit {
    double number;
    std::string_view unit;  ///< trimmed; empty if the text is a bare number
};

/// Splits "1.5T" or "80 GiB" at the end of the number. Not negative, finite, no exponent glued to a
/// unit.
std::optional<NumberAndUnit> split_unit(std::string_view s) {
    s = trim(s);
    std::size_t end = 0;
    while (end < s.size() && (is_digit(s[end]) || s[end] == '.')) {
        ++end;
    }
    // An exponent belongs to the number only if digits follow ("1e12", not "1 EiB").
    if (end > 0 && end + 1 < s.size() && (s[end] == 'e' || s[end] == 'E')) {
        std::size_t digits = end + 1;
        if (s[digits] == '+' || s[digits] == '-') {
            ++digits;
        }
        if (digits < s.size() && is_digit(s[digits])) {
            end = digits;
            while (end < s.size() && is_digit(s[end])) {
                ++end;
            }
        }
    }
    const std::optional<double> number = parse_number(s.substr(0, end));
    if (!number) {
        return std::nullopt;
    }
    return NumberAndUnit{*number, trim(s.substr(end))};
}

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

struct DurationUnit {
    std::string_view name;
    Seconds length;
};

constexpr std::array<DurationUnit, 20> kDurationUnits = {{
    {"w", 7 * kDay},     {"week", 7 * kDay},   {"weeks", 7 * kDay},  {"d", kDay},
    {"day", kDay},       {"days", kDay},       {"h", kHour},         {"hr", kHour},
    {"hour", kHour},     {"hours", kHour},     {"m", kMinute},       {"min", kMinute},
    {"minute", kMinute}, {"minutes", kMinute}, {"s", kSecond},       {"sec", kSecond},
    {"second", kSecond}, {"seconds", kSecond}, {"ms", kMillisecond}, {"us", kMicrosecond},
}};

struct ByteUnit {
    std::string_view name;
    Bytes size;
};

/// "Mb" is a megabit and "mb" is nobody's unit, so the case counts.
constexpr std::array<ByteUnit, 12> kByteUnits = {{
    {"B", kByte},
    {"kB", 1e3 * kByte},
    {"KB", 1e3 * kByte},
    {"MB", kMB},
    {"GB", kGB},
    {"TB", kTB},
    {"PB", 1e3 * kTB},
    {"KiB", kKiB},
    {"MiB", kMiB},
    {"GiB", kGiB},
    {"TiB", kTiB},
    {"PiB", 1024.0 * kTiB},
}};

/// "150,000.50" -> "150000.50"; nullopt unless every group after the first has three digits.
std::optional<std::string> without_grouping(std::string_view s) {
    const std::size_t end = s.find_first_not_of("0123456789,");
    const std::string_view whole = s.substr(0, end);
    const std::vector<std::string_view> groups = split(whole, ',');
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const bool fits =
            i == 0 ? groups[i].size() <= 3 && !groups[i].empty() : groups[i].size() == 3;
        if (groups.size() > 1 && !fits) {
            return std::nullopt;
        }
    }
    std::string out;
    for (const std::string_view group : groups) {
        out += group;
    }
    return end == std::string_view::npos ? out : out + std::string(s.substr(end));
}

}  // namespace

std::optional<double> parse_number(std::string_view s) {
    const std::string_view digits = s.starts_with('-') ? s.substr(1) : s;
    // from_chars would also take "nan", "inf" and a lone "-".
    if (digits.empty() || !(is_digit(digits.front()) || digits.front() == '.')) {
        return std::nullopt;
    }
    double value = 0;
    const auto [end, failure] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (failure != std::errc{} || end != s.data() + s.size()) {
        return std::nullopt;
    }
    return finite(value);
}

std::optional<double> parse_count(std::string_view s) {
    const std::optional<NumberAndUnit> parts = split_unit(s);
    if (!parts) {
        return std::nullopt;
    }
    const std::string suffix = to_lower(parts->unit);
    if (suffix.empty()) {
        return parts->number;
    }
    if (suffix == "k") {
        return finite(parts->number * 1e3);
    }
    if (suffix == "m") {
        return finite(parts->number * 1e6);
    }
    if (suffix == "b") {
        return finite(parts->number * 1e9);
    }
    if (suffix == "t") {
        return finite(parts->number * 1e12);
    }
    return std::nullopt;
}

std::optional<Seconds> parse_duration(std::string_view s) {
    s = trim(s);
    if (s.empty()) {
        return std::nullopt;
    }
    Seconds total;
    while (!s.empty()) {
        const std::size_t number_end = s.find_first_not_of("0123456789.");
        const std::optional<double> number = parse_number(s.substr(0, number_end));
        if (!number || number_end == std::string_view::npos) {
            return std::nullopt;
        }
        s = trim(s.substr(number_end));
        const std::string_view unit = trim(s.substr(0, s.find_first_of("0123456789.")));
        const auto* known = std::find_if(kDurationUnits.begin(), kDurationUnits.end(),
                                         [&](const DurationUnit& u) { return u.name == unit; });
        if (known == kDurationUnits.end()) {
            return std::nullopt;
        }
        total += *number * known->length;
        s = trim(s.substr(unit.size()));
    }
    return std::isfinite(total.base()) ? std::optional(total) : std::nullopt;
}

std::optional<Usd> parse_usd(std::string_view s) {
    s = trim(s);
    if (s.starts_with('$')) {
        s.remove_prefix(1);
    }
    const std::optional<std::string> plain = without_grouping(trim(s));
    const std::optional<double> amount = plain ? parse_count(*plain) : std::nullopt;
    return amount ? std::optional(*amount * kUsd) : std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view s) {
    const std::optional<NumberAndUnit> parts = split_unit(s);
    if (!parts) {
        return std::nullopt;
    }
    for (const ByteUnit& unit : kByteUnits) {
        if (unit.name == parts->unit && std::isfinite(parts->number * unit.size.base())) {
            return parts->number * unit.size;
        }
    }
    return std::nullopt;
}

}  // namespace trainyard

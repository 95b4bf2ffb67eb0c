// What a file's path and its time stamps say.

#include <algorithm>
#include <cctype>
#include <chrono>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {

namespace {

bool digits(std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `width` digits at `at`, or nothing.
std::optional<int> fixed_digits(std::string_view s, std::size_t at, std::size_t width) {
    if (at + width > s.size() || !digits(s.substr(at, width))) return std::nullopt;
    int value = 0;
    for (char c : s.substr(at, width)) value = value * 10 + (c - '0');
    return value;
}

/// "Z", "+00:00", "-07:00" or nothing: seconds to subtract.
std::optional<int> zone_offset(std::string_view s) {
    if (s.empty() || s == "Z") return 0;
    const auto hours = fixed_digits(s, 1, 2);
    const auto minutes = fixed_digits(s, 4, 2);
    if (s.size() != 6 || s[3] != ':' || (s[0] != '+' && s[0] != '-') || !hours || !minutes)
        return std::nullopt;
    const int offset = *hours * 3600 + *minutes * 60;
    return s[0] == '-' ? -offset : offset;
}

/// Digits after the point of seconds; how many characters they take.
std::pair<double, std::size_t> fraction(std::string_view s) {
    if (s.empty() || s[0] != '.') return {0, 0};
    double value = 0;
    double unit = 0.1;
    std::size_t used = 1;
    for (; used < s.size() && s[used] >= '0' && s[used] <= '9'; ++used, unit /= 10)
        value += (s[used] - '0') * unit;
    return {value, used};
}

}  // namespace

std::optional<double> parse_time(std::string_view s) {
    const auto year = fixed_digits(s, 0, 4), month = fixed_digits(s, 5, 2),
               day = fixed_digits(s, 8, 2), hour = fixed_digits(s, 11, 2),
               minute = fixed_digits(s, 14, 2), second = fixed_digits(s, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    const bool shaped = s[4] == '-' && s[7] == '-' && (s[10] == 'T' || s[10] == ' ') &&
                        s[13] == ':' && s[16] == ':' && *hour < 24 && *minute < 60 && *second < 61;
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!shaped || !date.ok()) return std::nullopt;
    const auto [part, used] = fraction(s.substr(19));
    const auto offset = zone_offset(s.substr(19 + used));
    if (!offset) return std::nullopt;
    const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
    return static_cast<double>(days) * 86400 + *hour * 3600 + *minute * 60 + *second - *offset +
           part;
}

std::string zone_of(std::string_view name) {
    const std::string_view word = name.substr(0, name.find('_'));
    const auto parts = split(word, '-');
    if (parts.size() != 3) return "";
    // AWS ends in "2a", Google Cloud in "central1" and "a".
    const std::string_view last = parts[2];
    const bool aws = last.size() == 2 && digits(last.substr(0, 1)) &&
                     std::isalpha(static_cast<unsigned char>(last[1])) != 0;
    const bool google = last.size() == 1 &&
                        std::isalpha(static_cast<unsigned char>(last[0])) != 0 &&
                        !parts[1].empty() && digits(parts[1].substr(parts[1].size() - 1));
    return aws || google ? std::string(word) : "";
}

PathFacts facts_of_path(std::string_view file) {
    PathFacts facts;
    const auto parts = split(file, '/');
    std::string_view stem = parts.empty() ? file : parts.back();
    stem = stem.substr(0, stem.rfind('.'));
    if (parts.size() > 1 && (stem == "full" || digits(stem))) stem = parts[parts.size() - 2];
    facts.pool = stem;
    facts.zone = zone_of(stem);
    for (std::string_view part : parts) {
        if (part == "availability") facts.observation = Observation::probe;
        if (part == "preemption") facts.observation = Observation::kept_alive;
        if (part.size() <= 9 && part.ends_with("-node") && digits(part.substr(0, part.size() - 5)))
            facts.nodes = std::stoi(std::string(part.substr(0, part.size() - 5)));
    }
    return facts;
}

}  // namespace trainyard::spot

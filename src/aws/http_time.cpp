#include "http_time.hpp"

namespace trainyard::aws {
namespace {

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return std::nullopt;
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

std::optional<ParsedTime> combine(std::optional<int> year, std::optional<int> month,
                                  std::optional<int> day, std::string_view clock) {
    const std::optional<int> hour = digits(clock, 0, 2);
    const std::optional<int> minute = digits(clock, 3, 2);
    const std::optional<int> second = digits(clock, 6, 2);
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    if (clock[2] != ':' || clock[5] != ':') return std::nullopt;
    if (*hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
           std::chrono::seconds(*second);
}

}  // namespace

std::optional<ParsedTime> parse_http_time(std::string_view text) {
    if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t at = kMonths.find(text.substr(8, 3));
    if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
    return combine(digits(text, 12, 4), static_cast<int>(at / 3) + 1, digits(text, 5, 2),
                   text.substr(17, 8));
}

std::optional<ParsedTime> parse_iso_time(std::string_view text) {
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T') {
        return std::nullopt;
    }
    std::string_view rest = text.substr(19);
    if (rest.starts_with('.')) {
        const std::size_t end = rest.find_first_not_of("0123456789", 1);
        rest = end == std::string_view::npos ? "" : rest.substr(end);
    }
    if (rest != "Z" && rest != "+00:00" && rest != "+0000") return std::nullopt;
    return combine(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2), text.substr(11, 8));
}

}  // namespace trainyard::aws

// Whole days between ISO dates: days from civil, Howard Hinnant,
// https://howardhinnant.github.io/date_algorithms.html#days_from_civil (proleptic Gregorian).

#include "date.hpp"

#include "trainyard/catalog/catalog.hpp"

namespace trainyard::catalog {

namespace {

bool digits(std::string_view s, int& value) {
    value = 0;
    for (const char c : s) {
        if (c < '0' || c > '9') return false;
        value = value * 10 + (c - '0');
    }
    return !s.empty();
}

bool is_leap(int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }

int days_in_month(int y, int m) {
    constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return m == 2 && is_leap(y) ? 29 : kDays[m - 1];
}

}  // namespace

std::optional<int> day_number(std::string_view date) {
    if (date.size() != 4 && date.size() != 7 && date.size() != 10) return std::nullopt;
    int y = 0;
    int m = 1;
    int d = 1;
    if (!digits(date.substr(0, 4), y) || y < 1970) return std::nullopt;
    if (date.size() >= 7 && (date[4] != '-' || !digits(date.substr(5, 2), m))) return std::nullopt;
    if (date.size() == 10 && (date[7] != '-' || !digits(date.substr(8, 2), d))) return std::nullopt;
    if (m < 1 || m > 12 || d < 1 || d > days_in_month(y, m)) return std::nullopt;
    const int shifted = m <= 2 ? y - 1 : y;  // years begin in March, so the leap day is the last
    const int era = shifted / 400;
    const int year_of_era = shifted - era * 400;
    const int day_of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

std::optional<int> age_in_days(std::string_view as_of, std::string_view today) {
    const std::optional<int> from = day_number(as_of);
    const std::optional<int> to = day_number(today);
    if (!from || !to) return std::nullopt;
    return *to - *from;
}

}  // namespace trainyard::catalog

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "trainyard/sys/environment.hpp"

namespace trainyard::sys {

namespace {

int descriptor(Stream stream) { return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO; }

std::optional<int> parse_digits(std::string_view text) {
    int value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = failure == std::errc{} && end == text.data() + text.size();
    return is_whole && value >= 0 && !text.empty() ? std::optional(value) : std::nullopt;
}

bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
        return false;
    }
    const std::optional<int> year = parse_digits(text.substr(0, 4));
    const std::optional<int> month = parse_digits(text.substr(5, 2));
    const std::optional<int> day = parse_digits(text.substr(8, 2));
    return year && month && day &&
           std::chrono::year_month_day(std::chrono::year(*year),
                                       std::chrono::month(static_cast<unsigned>(*month)),
                                       std::chrono::day(static_cast<unsigned>(*day)))
               .ok();
}

}  // namespace

std::optional<std::string> get_env(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets variables
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<std::string> today() {
    if (std::optional<std::string> fixed = get_env("TRAINYARD_TODAY")) {
        if (!is_date(*fixed)) {
            return bad_input({.where = {"TRAINYARD_TODAY", 0, 0},
                              .what = fmt::format("\"{}\" is not a date", *fixed),
                              .why = {},
                              .fix = "write it as YYYY-MM-DD, or unset the variable"});
        }
        return *std::move(fixed);
    }
    const std::chrono::year_month_day date(
        std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

Seconds time_of_day() {
    if (get_env("TRAINYARD_TODAY")) return {};
    const auto now = std::chrono::system_clock::now();
    const std::chrono::duration<double> since = now - std::chrono::floor<std::chrono::days>(now);
    return since.count() * kSecond;
}

bool is_terminal(Stream stream) { return ::isatty(descriptor(stream)) == 1; }

int terminal_width(Stream stream) {
    constexpr int kDefault = 80;
    if (const std::optional<std::string> columns = get_env("COLUMNS")) {
        if (const std::optional<int> width = parse_digits(*columns); width && *width > 0) {
            return *width;
        }
    }
    struct winsize size{};
    if (::ioctl(descriptor(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return kDefault;
}

}  // namespace trainyard::sys

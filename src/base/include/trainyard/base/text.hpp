#pragma once
// Text in and out: human numbers ("300B", "30d", "150k", "4 GiB") and their formatting.
// Parsers never throw and never guess: an unparsable text is nullopt, the caller makes the
// diagnostic.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/units.hpp"

namespace trainyard {

std::string_view trim(std::string_view s);
std::string to_lower(std::string_view s);
std::vector<std::string_view> split(std::string_view s, char separator);
bool is_valid_utf8(std::string_view s);
/// Bytes of `s` before the first malformed UTF-8 sequence; s.size() if there is none.
std::size_t valid_utf8_prefix(std::string_view s);
/// For terminals: control characters, C1 codes and bidirectional overrides become "?"; text beyond
/// `limit` bytes is cut with "…". Newlines and tabs stay.
std::string printable(std::string_view s, std::size_t limit = 4000);

/// For XML text and attributes: &, <, >, ", tab and newline as references; other control
/// characters, which XML 1.0 cannot hold, become spaces.
std::string escape_xml(std::string_view s);

/// Levenshtein distance, and the candidate nearest to `word` if it is near enough to be a typing
/// slip.
int edit_distance(std::string_view a, std::string_view b);
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// Plain finite decimal number, whole text. "nan", "inf", hex and trailing characters are refused.
std::optional<double> parse_number(std::string_view s);
/// "300B", "1.5T", "40M", "0.25M", "500k", "2048": powers of 1,000. Negative is refused.
std::optional<double> parse_count(std::string_view s);
/// "30d", "12h", "90m", "45s", "2w", "1d12h". A bare number is refused.
std::optional<Seconds> parse_duration(std::string_view s);
/// "150k", "$150,000", "1.2M", "10". Negative is refused.
std::optional<Usd> parse_usd(std::string_view s);
/// "80 GiB", "512MB". A bare number is refused.
std::optional<Bytes> parse_bytes(std::string_view s);

std::string format_count(double n);           ///< 8030261248 -> "8.03B"
std::string format_duration(Seconds t);       ///< 27.3 d, 5.2 h, 38 min, 1.82 s, 340 ms, 12 us
std::string format_usd(Usd amount);           ///< "$1,234.56" under 10,000, else "$123,457"
std::string format_usd_cents(Usd amount);     ///< "$123,456.78"
std::string format_bytes(Bytes n);            ///< "72.4 GiB" (binary)
std::string format_percent(double fraction);  ///< 0.412 -> "41.2 %"
std::string format_fixed(double value, int decimals);

}  // namespace trainyard

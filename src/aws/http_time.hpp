#pragma once
// Times in answers: the Date header (RFC 9110, IMF-fixdate) and ISO 8601 in XML and JSON.

#include <chrono>
#include <optional>
#include <string_view>

namespace trainyard::aws {

using ParsedTime = std::chrono::sys_time<std::chrono::seconds>;

/// "Wed, 02 Dec 2026 23:07:06 GMT".
std::optional<ParsedTime> parse_http_time(std::string_view text);
/// "2026-12-02T23:07:06Z", with or without a fraction, with "Z" or "+00:00".
std::optional<ParsedTime> parse_iso_time(std::string_view text);

}  // namespace trainyard::aws

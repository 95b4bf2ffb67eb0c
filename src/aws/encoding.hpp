#pragma once
// The text forms of bytes that AWS uses: lower-case hexadecimal, base64 (RFC 4648, padded), and
// AWS's URI encoding (all but A-Za-z0-9-_.~ as upper-case %XX).

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::aws {

std::string hex(std::string_view bytes);
std::string base64(std::string_view bytes);
/// nullopt unless padded base64 without any other character.
std::optional<std::string> parse_base64(std::string_view text);

enum class Slash { encode, keep };
std::string uri_encode(std::string_view bytes, Slash slash);
/// "%41" is "A"; a "%" without two hexadecimal digits is nullopt. "+" stays "+".
std::optional<std::string> uri_decode(std::string_view text);

}  // namespace trainyard::aws

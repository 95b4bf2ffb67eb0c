#include "trainyard/aws/etag.hpp"

#include <algorithm>

#include "digest.hpp"
#include "encoding.hpp"

namespace trainyard::aws {

namespace {

constexpr std::size_t kDigits = 32;
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string etag_of(std::string_view bytes) { return hex(md5(bytes)); }

bool is_md5_etag(std::string_view etag) {
    if (etag.size() < kDigits || !std::all_of(etag.begin(), etag.begin() + kDigits, is_hex)) {
        return false;
    }
    const std::string_view rest = etag.substr(kDigits);
    return rest.empty() || (rest.size() > 1 && rest.front() == '-' &&
                            std::all_of(rest.begin() + 1, rest.end(), is_digit));
}

std::optional<std::string> etag_of_parts(const std::vector<Part>& parts) {
    std::string digests;
    for (const Part& part : parts) {
        if (part.etag.size() != 32) return std::nullopt;
        std::string escaped;
        for (std::size_t i = 0; i < part.etag.size(); i += 2) {
            escaped += "%" + part.etag.substr(i, 2);
        }
        const std::optional<std::string> digest = uri_decode(escaped);
        if (!digest) return std::nullopt;
        digests += *digest;
    }
    return hex(md5(digests)) + "-" + std::to_string(parts.size());
}

}  // namespace trainyard::aws

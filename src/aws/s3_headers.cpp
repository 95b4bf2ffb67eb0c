#include "s3_headers.hpp"

#include "digest.hpp"
#include "encoding.hpp"

namespace trainyard::aws {

std::string checksum_header(ChecksumAlgorithm algorithm) {
    return "x-amz-checksum-" + std::string(name(algorithm));
}

std::string_view checksum_word(ChecksumAlgorithm algorithm) {
    return algorithm == ChecksumAlgorithm::crc32c ? "CRC32C" : "CRC64NVME";
}

std::optional<Checksum> checksum_in(const sys::HttpResponse& response) {
    if (response.header("x-amz-checksum-type") == "COMPOSITE") return std::nullopt;
    for (const auto algorithm : {ChecksumAlgorithm::crc64nvme, ChecksumAlgorithm::crc32c}) {
        const auto text = response.header(checksum_header(algorithm));
        if (!text) continue;
        if (const auto checksum = parse_checksum(algorithm, *text)) return checksum;
    }
    return std::nullopt;
}

std::string etag_in(const sys::HttpResponse& response) {
    std::string_view etag = response.header("etag").value_or("");
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
        etag = etag.substr(1, etag.size() - 2);
    }
    return std::string(etag);
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

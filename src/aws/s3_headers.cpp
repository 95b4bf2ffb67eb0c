#include "s3_headers.hpp"

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

}  // namespace trainyard::aws

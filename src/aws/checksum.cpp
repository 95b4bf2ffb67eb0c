#include "trainyard/aws/checksum.hpp"

#include "crc.hpp"
#include "encoding.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::aws {
namespace {

std::size_t width(ChecksumAlgorithm algorithm) {
    return algorithm == ChecksumAlgorithm::crc32c ? 4 : 8;
}

}  // namespace

Checksum empty_checksum(ChecksumAlgorithm algorithm) { return {algorithm, 0}; }

Checksum continue_checksum(Checksum before, std::string_view data) {
    if (before.algorithm == ChecksumAlgorithm::crc32c) {
        return {before.algorithm, crc32c(static_cast<std::uint32_t>(before.value), data)};
    }
    return {before.algorithm, crc64nvme(before.value, data)};
}

Checksum checksum_of(ChecksumAlgorithm algorithm, std::string_view data) {
    return continue_checksum(empty_checksum(algorithm), data);
}

Checksum combine(Checksum a, Checksum b, std::uint64_t size_of_b) {
    TRAINYARD_ASSERT(a.algorithm == b.algorithm, "one object is checked with one algorithm");
    if (a.algorithm == ChecksumAlgorithm::crc32c) {
        return {a.algorithm, crc32c_combine(static_cast<std::uint32_t>(a.value),
                                            static_cast<std::uint32_t>(b.value), size_of_b)};
    }
    return {a.algorithm, crc64nvme_combine(a.value, b.value, size_of_b)};
}

std::string to_base64(Checksum checksum) {
    std::string bytes;
    for (std::size_t i = width(checksum.algorithm); i-- > 0;) {
        bytes += static_cast<char>((checksum.value >> (8 * i)) & 255U);
    }
    return base64(bytes);
}

std::optional<Checksum> parse_checksum(ChecksumAlgorithm algorithm, std::string_view text) {
    const std::optional<std::string> bytes = parse_base64(text);
    if (!bytes || bytes->size() != width(algorithm)) return std::nullopt;
    Checksum checksum{algorithm, 0};
    for (const char c : *bytes) {
        checksum.value = (checksum.value << 8U) | static_cast<unsigned char>(c);
    }
    return checksum;
}

std::string_view name(ChecksumAlgorithm algorithm) {
    return algorithm == ChecksumAlgorithm::crc32c ? "crc32c" : "crc64nvme";
}

std::optional<ChecksumAlgorithm> parse_checksum_algorithm(std::string_view text) {
    if (text == "crc32c") return ChecksumAlgorithm::crc32c;
    if (text == "crc64nvme") return ChecksumAlgorithm::crc64nvme;
    return std::nullopt;
}

}  // namespace trainyard::aws

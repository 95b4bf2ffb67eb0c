#pragma once
// Checksums that S3 checks and keeps: CRC-32C (Castagnoli) and CRC-64/NVME, as values that can be
// continued over the next bytes and combined from those of two neighbours without reading either
// again. Both are linear codes: they find damage, not malice.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::aws {

enum class ChecksumAlgorithm { crc32c, crc64nvme };

struct Checksum {
    ChecksumAlgorithm algorithm = ChecksumAlgorithm::crc32c;
    std::uint64_t value = 0;  ///< crc32c: the lower 32 bits
    bool operator==(const Checksum&) const = default;
};

/// The checksum of no bytes.
Checksum empty_checksum(ChecksumAlgorithm algorithm);
/// Of the bytes behind `before` followed by `data`; start with empty_checksum().
Checksum continue_checksum(Checksum before, std::string_view data);
Checksum checksum_of(ChecksumAlgorithm algorithm, std::string_view data);
/// Of A followed by B, from the checksums of A and of B and the size of B in bytes. Both must have
/// the same algorithm.
Checksum combine(Checksum a, Checksum b, std::uint64_t size_of_b);

/// As S3 writes it: base64 of the big-endian bytes (8 characters for crc32c, 12 for crc64nvme).
std::string to_base64(Checksum checksum);
/// nullopt if the text is not base64 of exactly 4 or 8 bytes.
std::optional<Checksum> parse_checksum(ChecksumAlgorithm algorithm, std::string_view base64);
/// "crc32c", "crc64nvme".
std::string_view name(ChecksumAlgorithm algorithm);
std::optional<ChecksumAlgorithm> parse_checksum_algorithm(std::string_view name);

}  // namespace trainyard::aws

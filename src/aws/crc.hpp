#pragma once
// Cyclic redundancy codes in reflected form. Each function continues `state`, the code of the bytes
// before (0 for none), over `data` and returns the code of both: initial value and final inversion
// are inside.
//
// CRC-32C: polynomial 0x1EDC6F41 (RFC 3720 B.4), check("123456789") = 0xE3069283.
// CRC-64/NVME: polynomial 0xAD93D23594C93659 (NVM Express base specification 2.0c, 5.2.1.3.4,
// "64b CRC"), check = 0xAE8B14860A799888.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainyard::aws {

std::uint32_t crc32c(std::uint32_t state, std::string_view data);
std::uint64_t crc64nvme(std::uint64_t state, std::string_view data);

/// The same by tables only: the fallback of machines without the instructions, and the reference
/// that the fast ones are tested against.
std::uint32_t crc32c_by_table(std::uint32_t state, std::string_view data);
std::uint64_t crc64nvme_by_table(std::uint64_t state, std::string_view data);

/// Code of A followed by B, from those of A and B and the size of B in bytes.
std::uint32_t crc32c_combine(std::uint32_t a, std::uint32_t b, std::uint64_t size_of_b);
std::uint64_t crc64nvme_combine(std::uint64_t a, std::uint64_t b, std::uint64_t size_of_b);

}  // namespace trainyard::aws

#include "trainyard/aws/checksum.hpp"

#include <gtest/gtest.h>

#include "crc.hpp"
#include "trainyard/base/random.hpp"

namespace trainyard::aws {
namespace {

std::string random_bytes(Random& random, std::size_t size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    return bytes;
}

TEST(Checksum, CheckValues) {
    // The "check" of both codes in the catalogue of parametrised CRC algorithms (Cook).
    EXPECT_EQ(crc32c(0, "123456789"), 0xE3069283U);
    EXPECT_EQ(crc64nvme(0, "123456789"), 0xAE8B14860A799888ULL);
    EXPECT_EQ(crc32c_by_table(0, "123456789"), 0xE3069283U);
    EXPECT_EQ(crc64nvme_by_table(0, "123456789"), 0xAE8B14860A799888ULL);
}

TEST(Checksum, Rfc3720Vectors) {
    // RFC 3720, B.4: 32 bytes of zeros, of ones, ascending.
    std::string ascending;
    for (char c = 0; c < 32; ++c) ascending += c;
    EXPECT_EQ(crc32c(0, std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(crc32c(0, std::string(32, '\xff')), 0x62A8AB43U);
    EXPECT_EQ(crc32c(0, ascending), 0x46DD794EU);
}

TEST(Checksum, InstructionsAgreeWithTablesAtAnySizeAndAlignment) {
    Random random(3, 0);
    const std::string bytes = random_bytes(random, 60'000);
    for (int i = 0; i < 2000; ++i) {
        const std::size_t at = random.below(64);
        // Small sizes cover each tail; the large ones more than three streams of 4,096 bytes.
        const std::size_t size = i < 1200 ? static_cast<std::size_t>(i) : random.below(59'000);
        const std::string_view data = std::string_view(bytes).substr(at, size);
        const std::uint64_t state = random.next();
        ASSERT_EQ(crc32c(static_cast<std::uint32_t>(state), data),
                  crc32c_by_table(static_cast<std::uint32_t>(state), data))
            << size;
        ASSERT_EQ(crc64nvme(state, data), crc64nvme_by_table(state, data)) << size;
    }
}

TEST(Checksum, ContinuedAndCombinedAreThatOfTheWhole) {
    Random random(4, 0);
    const std::string bytes = random_bytes(random, 20'000);
    for (const auto algorithm : {ChecksumAlgorithm::crc32c, ChecksumAlgorithm::crc64nvme}) {
        for (int i = 0; i < 300; ++i) {
            const std::string_view whole = std::string_view(bytes).substr(0, random.below(20'000));
            const std::size_t cut = random.below(static_cast<std::uint32_t>(whole.size() + 1));
            const Checksum a = checksum_of(algorithm, whole.substr(0, cut));
            const Checksum b = checksum_of(algorithm, whole.substr(cut));
            const Checksum expected = checksum_of(algorithm, whole);
            ASSERT_EQ(continue_checksum(a, whole.substr(cut)), expected);
            ASSERT_EQ(combine(a, b, whole.size() - cut), expected);
        }
    }
}

TEST(Checksum, CombinesOverMoreBytesThanCanBeRead) {
    // 2^61 bytes are 2^64 bits: the exponent must not wrap. Zeros in two steps equal one step.
    const Checksum one = checksum_of(ChecksumAlgorithm::crc64nvme, "x");
    const Checksum none{ChecksumAlgorithm::crc64nvme, 0};
    const std::uint64_t half = std::uint64_t{1} << 60U;
    EXPECT_EQ(combine(one, none, 2 * half), combine(combine(one, none, half), none, half));
    EXPECT_NE(combine(one, none, 2 * half), one);
}

TEST(Checksum, AnyFlippedBitIsFound) {
    Random random(5, 0);
    std::string bytes = random_bytes(random, 700);
    for (const auto algorithm : {ChecksumAlgorithm::crc32c, ChecksumAlgorithm::crc64nvme}) {
        const Checksum good = checksum_of(algorithm, bytes);
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
            bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
            ASSERT_NE(checksum_of(algorithm, bytes), good) << bit;
            bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
        }
    }
}

TEST(Checksum, TextOfS3) {
    // base64 of E3 06 92 83, and of AE 8B 14 86 0A 79 98 88.
    const Checksum small = checksum_of(ChecksumAlgorithm::crc32c, "123456789");
    const Checksum large = checksum_of(ChecksumAlgorithm::crc64nvme, "123456789");
    EXPECT_EQ(to_base64(small), "4waSgw==");
    EXPECT_EQ(to_base64(large), "rosUhgp5mIg=");
    EXPECT_EQ(parse_checksum(ChecksumAlgorithm::crc32c, "4waSgw=="), small);
    EXPECT_EQ(parse_checksum(ChecksumAlgorithm::crc64nvme, "rosUhgp5mIg="), large);
    EXPECT_EQ(parse_checksum(ChecksumAlgorithm::crc64nvme, "4waSgw=="), std::nullopt);
    EXPECT_EQ(parse_checksum(ChecksumAlgorithm::crc32c, "4waSgw==-2"), std::nullopt);  // composite
    for (const auto algorithm : {ChecksumAlgorithm::crc32c, ChecksumAlgorithm::crc64nvme}) {
        EXPECT_EQ(parse_checksum_algorithm(name(algorithm)), algorithm);
    }
    EXPECT_EQ(parse_checksum_algorithm("md5"), std::nullopt);
}

}  // namespace
}  // namespace trainyard::aws

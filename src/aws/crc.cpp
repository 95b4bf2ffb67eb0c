#include "crc.hpp"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace trainyard::aws {
namespace {

// Bit i of a reflected word is the coefficient of x^(width-1-i), so a shift to the right multiplies
// by x.
constexpr std::uint32_t kCastagnoli = 0x82F63B78U;
constexpr std::uint64_t kNvme = 0x9A6C9329AC4BC9B5ULL;

template <typename Word>
constexpr Word times_x(Word v, Word polynomial) {
    return static_cast<Word>((v >> 1U) ^ ((v & 1U) != 0 ? polynomial : Word{0}));
}

/// x^0 in reflected form.
template <typename Word>
constexpr Word one() {
    return static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
}

template <typename Word>
constexpr Word multiply(Word a, Word b, Word polynomial) {
    Word product = 0;
    for (Word bit = one<Word>(); bit != 0; bit = static_cast<Word>(bit >> 1U)) {
        if ((a & bit) != 0) product ^= b;
        b = times_x(b, polynomial);
    }
    return product;
}

/// x^n modulo the polynomial.
template <typename Word>
constexpr Word power_of_x(std::uint64_t n, Word polynomial) {
    Word result = one<Word>();
    for (Word square = times_x(one<Word>(), polynomial); n != 0; n >>= 1U) {
        if ((n & 1U) != 0) result = multiply(result, square, polynomial);
        square = multiply(square, square, polynomial);
    }
    return result;
}

/// Multiplies by x^(8 * bytes); the exponent of a 64-bit size does not fit one, so x^8 is the base.
template <typename Word>
Word skip_bytes(Word code, std::uint64_t bytes, Word polynomial) {
    for (Word square = power_of_x<Word>(8, polynomial); bytes != 0; bytes >>= 1U) {
        if ((bytes & 1U) != 0) code = multiply(code, square, polynomial);
        square = multiply(square, square, polynomial);
    }
    return code;
}

/// Slicing by 8 (Kounavis and Berry 2008): table[k][b] is the code of byte b and k zero bytes.
template <typename Word>
using Slices = std::array<std::array<Word, 256>, 8>;

template <typename Word>
Slices<Word> make_slices(Word polynomial) {
    Slices<Word> table{};
    for (std::size_t b = 0; b < 256; ++b) {
        Word v = static_cast<Word>(b);
        for (int i = 0; i < 8; ++i) v = times_x(v, polynomial);
        table[0][b] = v;
    }
    for (std::size_t k = 1; k < 8; ++k) {
        for (std::size_t b = 0; b < 256; ++b) {
            const Word v = table[k - 1][b];
            table[k][b] = static_cast<Word>((v >> 8U) ^ table[0][v & 255U]);
        }
    }
    return table;
}

std::uint64_t load8(const char* p) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    return word;
}

/// Without inversion: the raw remainder, continued.
template <typename Word>
Word remainder_by_table(Word raw, std::string_view data, const Slices<Word>& table) {
    const char* p = data.data();
    std::size_t left = data.size();
    for (; left >= 8; left -= 8, p += 8) {
        const std::uint64_t word = load8(p) ^ raw;
        raw = 0;
        for (unsigned k = 0; k < 8; ++k) {
            raw ^= table[7 - k][(word >> (8U * k)) & 255U];
        }
    }
    for (; left != 0; --left, ++p) {
        raw = static_cast<Word>((raw >> 8U) ^
                                table[0][(raw ^ static_cast<unsigned char>(*p)) & 255U]);
    }
    return raw;
}

const Slices<std::uint32_t>& castagnoli_slices() {
    static const Slices<std::uint32_t> table = make_slices(kCastagnoli);
    return table;
}
const Slices<std::uint64_t>& nvme_slices() {
    static const Slices<std::uint64_t> table = make_slices(kNvme);
    return table;
}

#ifdef __x86_64__

bool has_crc32_instruction() {
    static const bool has = __builtin_cpu_supports("sse4.2") != 0;
    return has;
}
bool has_carryless_multiply() {
    static const bool has =
        __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
    return has;
}

/// Bytes of each of the three streams that run side by side: the instruction has a latency of three
/// cycles and a throughput of one (Gopal et al., Intel 2011, "Fast CRC computation for iSCSI").
constexpr std::size_t kStream = 4096;
static_assert(kStream % 8 == 0);

/// table[k][b]: byte b at position k of a remainder, moved over one stream.
using StreamTable = std::array<std::array<std::uint32_t, 256>, 4>;
StreamTable make_stream_table() {
    StreamTable table{};
    const std::uint32_t over = power_of_x<std::uint32_t>(8 * kStream, kCastagnoli);
    for (unsigned k = 0; k < 4; ++k) {
        for (std::uint32_t b = 0; b < 256; ++b) {
            table[k][b] = multiply(b << (8U * k), over, kCastagnoli);
        }
    }
    return table;
}
std::uint32_t over_one_stream(std::uint64_t raw) {
    static const StreamTable table = make_stream_table();
    return table[0][raw & 255U] ^ table[1][(raw >> 8U) & 255U] ^ table[2][(raw >> 16U) & 255U] ^
           table[3][(raw >> 24U) & 255U];
}

__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::uint32_t state,
                                                                      std::string_view data) {
    std::uint64_t raw = ~state;
    const char* p = data.data();
    std::size_t left = data.size();
    for (; left >= 3 * kStream; left -= 3 * kStream, p += 3 * kStream) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t i = 0; i < kStream; i += 8) {
            raw = _mm_crc32_u64(raw, load8(p + i));
            second = _mm_crc32_u64(second, load8(p + kStream + i));
            third = _mm_crc32_u64(third, load8(p + 2 * kStream + i));
        }
        raw = over_one_stream(over_one_stream(raw) ^ second) ^ third;
    }
    for (; left >= 8; left -= 8, p += 8) raw = _mm_crc32_u64(raw, load8(p));
    auto narrow = static_cast<std::uint32_t>(raw);
    for (; left != 0; --left, ++p) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*p));
    return ~narrow;
}

// Folding (Gopal et al., Intel 2009, "Fast CRC computation using PCLMULQDQ"): sixteen bytes move
// over `distance` bits with two multiplications. A product of two reflected words is one bit short
// of a reflected double word, which is why the exponents are one less.
struct FoldKeys {
    std::uint64_t low;   ///< for the first eight bytes
    std::uint64_t high;  ///< for the last eight
};
constexpr FoldKeys fold_keys(std::uint64_t distance) {
    return {power_of_x<std::uint64_t>(distance + 63, kNvme),
            power_of_x<std::uint64_t>(distance - 1, kNvme)};
}

__attribute__((target("pclmul,sse4.1"))) inline __m128i fold(__m128i block, __m128i keys) {
    return _mm_xor_si128(_mm_clmulepi64_si128(block, keys, 0x00),
                         _mm_clmulepi64_si128(block, keys, 0x11));
}

inline __m128i load16(const char* p) {
    __m128i block;
    std::memcpy(&block, p, sizeof block);
    return block;
}

__attribute__((target("pclmul,sse4.1"))) __m128i key_vector(FoldKeys keys) {
    return _mm_set_epi64x(static_cast<long long>(keys.high), static_cast<long long>(keys.low));
}

/// At least 128 bytes. Eight blocks run side by side to hide the latency of the multiplication.
__attribute__((target("pclmul,sse4.1"))) std::uint64_t crc64nvme_by_folding(std::uint64_t state,
                                                                            std::string_view data) {
    constexpr std::size_t kLanes = 8;
    constexpr FoldKeys kFar = fold_keys(std::uint64_t{128} * kLanes);
    constexpr FoldKeys kNext = fold_keys(128);  // bits of a block
    const char* p = data.data();
    std::size_t left = data.size();
    __m128i lane[kLanes];  // NOLINT(*-c-arrays): GCC warns of std::array<__m128i>
    for (std::size_t i = 0; i < kLanes; ++i) lane[i] = load16(p + 16 * i);
    const std::uint64_t inverted = ~state;
    lane[0] = _mm_xor_si128(lane[0], _mm_set_epi64x(0, static_cast<long long>(inverted)));
    p += 16 * kLanes;
    left -= 16 * kLanes;
    const __m128i far = key_vector(kFar);
    for (; left >= 16 * kLanes; left -= 16 * kLanes, p += 16 * kLanes) {
        for (std::size_t i = 0; i < kLanes; ++i) {
            lane[i] = _mm_xor_si128(fold(lane[i], far), load16(p + 16 * i));
        }
    }
    const __m128i next = key_vector(kNext);
    __m128i block = lane[0];
    for (std::size_t i = 1; i < kLanes; ++i) block = _mm_xor_si128(fold(block, next), lane[i]);
    for (; left >= 16; left -= 16, p += 16) block = _mm_xor_si128(fold(block, next), load16(p));
    std::array<char, 16> last{};
    std::memcpy(last.data(), &block, sizeof block);
    const std::uint64_t raw =
        remainder_by_table<std::uint64_t>(0, {last.data(), last.size()}, nvme_slices());
    return ~remainder_by_table(raw, {p, left}, nvme_slices());
}

#endif

}  // namespace

std::uint32_t crc32c_by_table(std::uint32_t state, std::string_view data) {
    return ~remainder_by_table(~state, data, castagnoli_slices());
}

std::uint64_t crc64nvme_by_table(std::uint64_t state, std::string_view data) {
    return ~remainder_by_table(~state, data, nvme_slices());
}

std::uint32_t crc32c(std::uint32_t state, std::string_view data) {
#ifdef __x86_64__
    if (has_crc32_instruction()) return crc32c_by_instruction(state, data);
#endif
    return crc32c_by_table(state, data);
}

std::uint64_t crc64nvme(std::uint64_t state, std::string_view data) {
#ifdef __x86_64__
    if (data.size() >= 128 && has_carryless_multiply()) return crc64nvme_by_folding(state, data);
#endif
    return crc64nvme_by_table(state, data);
}

std::uint32_t crc32c_combine(std::uint32_t a, std::uint32_t b, std::uint64_t size_of_b) {
    return skip_bytes(a, size_of_b, kCastagnoli) ^ b;
}

std::uint64_t crc64nvme_combine(std::uint64_t a, std::uint64_t b, std::uint64_t size_of_b) {
    return skip_bytes(a, size_of_b, kNvme) ^ b;
}

}  // namespace trainyard::aws

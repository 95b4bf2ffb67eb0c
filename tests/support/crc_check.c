// CRC-32C and CRC-64/NVME for the fault server: one table each, bit by bit, independent of src/aws/crc.cpp.
#include <stddef.h>
#include <stdint.h>

uint64_t crc_check(int width, uint64_t polynomial, const unsigned char* data, size_t size) {
    uint64_t table[256];
    for (unsigned b = 0; b < 256; ++b) {
        uint64_t v = b;
        for (int i = 0; i < 8; ++i) v = (v & 1) ? (v >> 1) ^ polynomial : v >> 1;
        table[b] = v;
    }
    const uint64_t all = width == 64 ? ~0ULL : 0xFFFFFFFFULL;
    uint64_t v = all;
    for (size_t i = 0; i < size; ++i) v = (v >> 8) ^ table[(v ^ data[i]) & 255];
    return v ^ all;
}

/* Plain C: the oracle of the other levels. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HAMMING_TABLE hamming_portable
#define HAMMING_TILE hamming_tile_portable
#define HAMMING_TILE_NAME "portable"
#define HAMMING_LEVEL CPU_PORTABLE

static inline uint32_t count_bits(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)((x * 0x0101010101010101u) >> 56);
}

static inline uint32_t row_distance(const uint8_t *a, const uint8_t *b, size_t words) {
    uint32_t distance = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t x, y;
        memcpy(&x, a + w * 8, 8);
        memcpy(&y, b + w * 8, 8);
        distance += count_bits(x ^ y);
    }
    return distance;
}

#include "hamming/hamming_rows_loop.h"

#if defined(__x86_64__)
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HAMMING_TABLE hamming_popcnt
#define HAMMING_TILE hamming_tile_popcnt
#define HAMMING_TILE_NAME "popcnt"
#define HAMMING_LEVEL CPU_POPCNT

static inline __attribute__((always_inline)) uint32_t row_distance(const uint8_t *a,
                                                                   const uint8_t *b, size_t words) {
    uint64_t distance = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t x, y;
        memcpy(&x, a + w * 8, 8);
        memcpy(&y, b + w * 8, 8);
        distance += (uint64_t)__builtin_popcountll(x ^ y);
    }
    return (uint32_t)distance;
}

#include "hamming/hamming_rows_loop.h"
#endif

#if defined(__aarch64__)
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HAMMING_TABLE hamming_neon
#define HAMMING_TILE hamming_tile_neon
#define HAMMING_TILE_NAME "neon"
#define HAMMING_LEVEL CPU_NEON

static inline __attribute__((always_inline)) uint32_t row_distance(const uint8_t *a,
                                                                   const uint8_t *b, size_t words) {
    uint16x8_t sums = vdupq_n_u16(0);
    size_t byte = 0;
    for (; byte + 16 <= words * 8; byte += 16)
        sums = vpadalq_u8(sums, vcntq_u8(veorq_u8(vld1q_u8(a + byte), vld1q_u8(b + byte))));
    uint32_t distance = vaddlvq_u16(sums);
    if (words & 1)
        distance += vaddv_u8(vcnt_u8(veor_u8(vld1_u8(a + byte), vld1_u8(b + byte))));
    return distance;
}

#include "hamming/hamming_rows_loop.h"
#endif

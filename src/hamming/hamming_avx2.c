#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HAMMING_TABLE hamming_avx2
#define HAMMING_LEVEL CPU_AVX2
#define HAMMING_SELECT select_avx2

/* The bits of every byte, by two look-ups of nibbles (Mula). */
static inline __m256i count_bytes(__m256i x) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i even = _mm256_shuffle_epi8(table, _mm256_and_si256(x, low));
    __m256i odd = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));
    return _mm256_add_epi8(even, odd);
}

static inline __attribute__((always_inline)) uint32_t row_distance(const uint8_t *a,
                                                                   const uint8_t *b, size_t words) {
    const size_t whole_bytes = words / 4 * 32;
    __m256i sums = _mm256_setzero_si256();
    for (size_t byte = 0; byte < whole_bytes;) {
        /* 16 vectors of at most 8 per byte stay below 256. */
        size_t end = whole_bytes - byte > 512 ? byte + 512 : whole_bytes;
        __m256i counts = _mm256_setzero_si256();
        for (; byte < end; byte += 32) {
            __m256i x = _mm256_loadu_si256((const __m256i *)(a + byte));
            __m256i y = _mm256_loadu_si256((const __m256i *)(b + byte));
            counts = _mm256_add_epi8(counts, count_bytes(_mm256_xor_si256(x, y)));
        }
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(counts, _mm256_setzero_si256()));
    }
    uint64_t distance = 0;
    if (whole_bytes) {
        __m128i half =
            _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        distance = (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
    }
    for (size_t w = words / 4 * 4; w < words; w++) {
        uint64_t x, y;
        memcpy(&x, a + w * 8, 8);
        memcpy(&y, b + w * 8, 8);
        distance += (uint64_t)_mm_popcnt_u64(x ^ y);
    }
    return (uint32_t)distance;
}

static size_t select_avx2(const uint16_t *distances, size_t count, uint32_t limit,
                          uint32_t *positions) {
    const __m256i most = _mm256_set1_epi16((short)(limit > UINT16_MAX ? UINT16_MAX : limit));
    size_t found = 0, i = 0;
    for (; i + 16 <= count; i += 16) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(distances + i));
        __m256i within = _mm256_cmpeq_epi16(_mm256_min_epu16(x, most), x);
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(within) & 0x55555555u;
        for (; mask; mask &= mask - 1)
            positions[found++] = (uint32_t)(i + (size_t)__builtin_ctz(mask) / 2);
    }
    for (; i < count; i++) {
        positions[found] = (uint32_t)i;
        found += distances[i] <= limit;
    }
    return found;
}

#include "hamming/hamming_rows_loop.h"
#endif

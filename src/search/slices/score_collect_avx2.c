#if defined(__x86_64__)
#include <immintrin.h>

#include "search/slices/slices_search.h"

/* A bit for each of 32 scores that is the least or more. */
static inline uint32_t reached(const uint8_t *values, __m256i least) {
    __m256i scores = _mm256_loadu_si256((const __m256i *)values);
    __m256i greater = _mm256_cmpeq_epi8(_mm256_max_epu8(scores, least), scores);
    return (uint32_t)_mm256_movemask_epi8(greater);
}

size_t score_collect_avx2(const uint8_t *values, size_t rows, unsigned threshold,
                          uint32_t *candidates) {
    const __m256i least = _mm256_set1_epi8((char)threshold);
    size_t found = 0;
    for (size_t row = 0; row < rows; row += SCORE_BLOCK) {
        uint64_t rest = reached(values + row, least) |
                        (uint64_t)reached(values + row + SCORE_BLOCK / 2, least) << 32;
        for (; rest; rest &= rest - 1)
            candidates[found++] = (uint32_t)(row + (size_t)__builtin_ctzll(rest));
    }
    return found;
}
#endif

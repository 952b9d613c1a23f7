#if defined(__x86_64__)
#include <immintrin.h>

#include "search/slices/slices_search.h"

size_t score_collect_avx512(const uint8_t *values, size_t rows, unsigned threshold,
                            uint32_t *candidates) {
    const __m512i least = _mm512_set1_epi8((char)threshold);
    size_t found = 0;
    for (size_t row = 0; row < rows; row += SCORE_BLOCK) {
        uint64_t rest = _mm512_cmpge_epu8_mask(_mm512_loadu_si512(values + row), least);
        for (; rest; rest &= rest - 1)
            candidates[found++] = (uint32_t)(row + (size_t)__builtin_ctzll(rest));
    }
    return found;
}
#endif

#include "signature/signature_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* One word of the patterns at a time: its 64 sums stay in four registers over all terms, and the
 * pattern's bits are the masks of the additions. */
static void accumulate(int32_t *sums, unsigned words, const uint64_t *patterns,
                       const int32_t *weights, size_t count) {
    for (unsigned i = 0; i < words; i++) {
        int32_t *out = sums + 64 * i;
        __m512i s0 = _mm512_loadu_si512(out), s1 = _mm512_loadu_si512(out + 16);
        __m512i s2 = _mm512_loadu_si512(out + 32), s3 = _mm512_loadu_si512(out + 48);
        for (size_t t = 0; t < count; t++) {
            uint64_t pattern = patterns[t * words + i];
            __m512i weight = _mm512_set1_epi32(weights[t]);
            s0 = _mm512_mask_add_epi32(s0, (__mmask16)pattern, s0, weight);
            s1 = _mm512_mask_add_epi32(s1, (__mmask16)(pattern >> 16), s1, weight);
            s2 = _mm512_mask_add_epi32(s2, (__mmask16)(pattern >> 32), s2, weight);
            s3 = _mm512_mask_add_epi32(s3, (__mmask16)(pattern >> 48), s3, weight);
        }
        _mm512_storeu_si512(out, s0);
        _mm512_storeu_si512(out + 16, s1);
        _mm512_storeu_si512(out + 32, s2);
        _mm512_storeu_si512(out + 48, s3);
    }
}

static void signs(uint64_t *patterns, unsigned words, const uint64_t *keys, size_t count) {
    fill_signs(patterns, words, keys, count);
}

static void minimise(uint64_t *minima, const uint64_t *multipliers, const uint64_t *increments,
                     size_t lanes, const uint64_t *hashes, size_t count) {
    minimise_lanes(minima, multipliers, increments, lanes, hashes, count);
}

const struct signature_kernels signature_kernels_avx512 = {signs, accumulate, minimise};
#endif

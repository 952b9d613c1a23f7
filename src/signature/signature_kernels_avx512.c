#include "signature/signer.h"

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

/* Looks up the steps of 32 bytes: the upper 128 are in four registers, the others are their
 * negatives. */
static inline __m512i steps_of(const __m512i upper[4], const uint8_t *bytes) {
    __m512i index = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)bytes));
    __mmask32 lower = _mm512_cmplt_epu16_mask(index, _mm512_set1_epi16(128));
    index = _mm512_mask_sub_epi16(index, lower, _mm512_set1_epi16(255), index);
    __mmask32 last = _mm512_test_epi16_mask(index, _mm512_set1_epi16(64));
    __m512i steps = _mm512_permutex2var_epi16(upper[0], index, upper[1]);
    steps =
        _mm512_mask_mov_epi16(steps, last, _mm512_permutex2var_epi16(upper[2], index, upper[3]));
    return _mm512_mask_sub_epi16(steps, lower, _mm512_setzero_si512(), steps);
}

static inline void add_wide(int64_t *totals, __m512i values) {
    __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(values));
    __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(values, 1));
    _mm512_storeu_si512(totals, _mm512_add_epi64(_mm512_loadu_si512(totals), low));
    _mm512_storeu_si512(totals + 8, _mm512_add_epi64(_mm512_loadu_si512(totals + 8), high));
}

/* Two terms at a time: products of 16 bits are added in pairs. 32 bits hold the sums of
 * STEPPED_TERMS. */
static void add_steps(int64_t *totals, const int16_t *steps, unsigned words,
                      const uint64_t *sequences, const int32_t *weights, size_t count) {
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    const uint8_t *bytes = (const uint8_t *)sequences;
    const size_t length = 64 * (size_t)words;
    __m512i upper[4];
    for (int i = 0; i < 4; i++)
        upper[i] = _mm512_loadu_si512(steps + 128 + 32 * i);
    for (size_t j = 0; j < length; j += 32) {
        __m512i low = _mm512_setzero_si512(), high = low;
        for (size_t t = 0; t < count; t += 2) {
            bool two = t + 1 < count;
            __m512i x = steps_of(upper, bytes + t * length + j);
            __m512i y = two ? steps_of(upper, bytes + (t + 1) * length + j) : x;
            __m512i pair = _mm512_set1_epi32(weights[t] | (two ? weights[t + 1] << 16 : 0));
            low = _mm512_add_epi32(low, _mm512_madd_epi16(_mm512_unpacklo_epi16(x, y), pair));
            high = _mm512_add_epi32(high, _mm512_madd_epi16(_mm512_unpackhi_epi16(x, y), pair));
        }
        add_wide(totals + j, _mm512_permutex2var_epi32(low, first, high));
        add_wide(totals + j + 16, _mm512_permutex2var_epi32(low, second, high));
    }
}

const struct signature_kernels signature_kernels_avx512 = {fill_signs, accumulate, add_steps,
                                                           minimise_lanes};
#endif

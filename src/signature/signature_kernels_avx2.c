#include "signature/signer.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Eight sums per register, half a pattern word (32 bits, four registers) at a time: the word is
 * broadcast, each lane tests its own bit, and the comparison is the mask of the weight. */
static void accumulate_half(int32_t *out, unsigned stride, const uint32_t *halves,
                            const int32_t *weights, size_t count) {
    const __m256i b0 =
        _mm256_setr_epi32(1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7);
    const __m256i b1 = _mm256_slli_epi32(b0, 8), b2 = _mm256_slli_epi32(b0, 16);
    const __m256i b3 = _mm256_slli_epi32(b0, 24);
    __m256i s0 = _mm256_loadu_si256((const __m256i *)out);
    __m256i s1 = _mm256_loadu_si256((const __m256i *)(out + 8));
    __m256i s2 = _mm256_loadu_si256((const __m256i *)(out + 16));
    __m256i s3 = _mm256_loadu_si256((const __m256i *)(out + 24));
    for (size_t t = 0; t < count; t++) {
        __m256i word = _mm256_set1_epi32((int)halves[t * stride]);
        __m256i weight = _mm256_set1_epi32(weights[t]);
        __m256i m0 = _mm256_cmpeq_epi32(_mm256_and_si256(word, b0), b0);
        __m256i m1 = _mm256_cmpeq_epi32(_mm256_and_si256(word, b1), b1);
        __m256i m2 = _mm256_cmpeq_epi32(_mm256_and_si256(word, b2), b2);
        __m256i m3 = _mm256_cmpeq_epi32(_mm256_and_si256(word, b3), b3);
        s0 = _mm256_add_epi32(s0, _mm256_and_si256(m0, weight));
        s1 = _mm256_add_epi32(s1, _mm256_and_si256(m1, weight));
        s2 = _mm256_add_epi32(s2, _mm256_and_si256(m2, weight));
        s3 = _mm256_add_epi32(s3, _mm256_and_si256(m3, weight));
    }
    _mm256_storeu_si256((__m256i *)out, s0);
    _mm256_storeu_si256((__m256i *)(out + 8), s1);
    _mm256_storeu_si256((__m256i *)(out + 16), s2);
    _mm256_storeu_si256((__m256i *)(out + 24), s3);
}

static void accumulate(int32_t *sums, unsigned words, const uint64_t *patterns,
                       const int32_t *weights, size_t count) {
    for (unsigned half = 0; half < 2 * words; half++)
        accumulate_half(sums + 32 * half, 2 * words, (const uint32_t *)patterns + half, weights,
                        count);
}

const struct signature_kernels signature_kernels_avx2 = {fill_signs, accumulate, add_steps_plainly,
                                                         minimise_lanes};
#endif

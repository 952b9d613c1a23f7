#if defined(__x86_64__)

#include "text/text_kernels.h"

#include <immintrin.h>

#include "text/token_mask_loop.h"

/* All ones in every byte of x that lies in first .. last. */
static inline __m256i bytes_between(__m256i x, char first, char last) {
    __m256i offset = _mm256_sub_epi8(x, _mm256_set1_epi8(first));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(offset, _mm256_set1_epi8((char)(last - first))),
                             offset);
}

static inline __m256i bytes_equal(__m256i x, char byte) {
    return _mm256_cmpeq_epi8(x, _mm256_set1_epi8(byte));
}

static inline __m256i lowered(__m256i x) {
    __m256i upper = bytes_between(x, 'A', 'Z');
    return _mm256_add_epi8(x, _mm256_and_si256(upper, _mm256_set1_epi8(32)));
}

static size_t lower_ascii(const char *in, size_t size, char *out) {
    size_t i = 0;
    for (; i + 32 <= size; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(in + i));
        unsigned high = (unsigned)_mm256_movemask_epi8(x);
        _mm256_storeu_si256((__m256i *)(out + i), lowered(x));
        if (high)
            return i + _tzcnt_u32(high);
    }
    size_t rest = text_kernels_portable.lower_ascii(in + i, size - i, out + i);
    return i + rest;
}

static inline uint64_t mask_of(__m256i low, __m256i high) {
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

static inline void classify(const char *block, struct block_classes *classes) {
    __m256i a = _mm256_loadu_si256((const __m256i *)block);
    __m256i b = _mm256_loadu_si256((const __m256i *)(block + 32));
    classes->letter = mask_of(_mm256_or_si256(a, bytes_between(a, 'a', 'z')),
                              _mm256_or_si256(b, bytes_between(b, 'a', 'z')));
    classes->number = mask_of(bytes_between(a, '0', '9'), bytes_between(b, '0', '9'));
    classes->underscore = mask_of(bytes_equal(a, '_'), bytes_equal(b, '_'));
    __m256i both_a = _mm256_or_si256(bytes_equal(a, '\''), bytes_equal(a, '.'));
    __m256i both_b = _mm256_or_si256(bytes_equal(b, '\''), bytes_equal(b, '.'));
    __m256i number_a = _mm256_or_si256(bytes_equal(a, ','), bytes_equal(a, ';'));
    __m256i number_b = _mm256_or_si256(bytes_equal(b, ','), bytes_equal(b, ';'));
    classes->mid_letter = mask_of(both_a, both_b);
    classes->mid_number = classes->mid_letter | mask_of(number_a, number_b);
}

static void token_mask(const char *folded, size_t blocks, bool inner, uint64_t *tokens) {
    token_mask_loop(classify, folded, blocks, inner, tokens);
}

const struct text_kernels text_kernels_avx2 = {lower_ascii, token_mask, token_spans_portable,
                                               hash_tokens_portable, hash_ngrams_portable};

#endif

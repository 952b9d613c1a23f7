#if defined(__x86_64__)

#include "text/text_kernels.h"

#include <immintrin.h>

#include "text/token_mask_loop.h"

static inline __mmask64 bytes_between(__m512i x, char first, char last) {
    return _mm512_cmple_epu8_mask(_mm512_sub_epi8(x, _mm512_set1_epi8(first)),
                                  _mm512_set1_epi8((char)(last - first)));
}

static inline __mmask64 bytes_equal(__m512i x, char byte) {
    return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(byte));
}

static size_t lower_ascii(const char *in, size_t size, char *out) {
    size_t i = 0;
    for (;;) {
        size_t left = size - i;
        __mmask64 valid = left >= 64 ? ~(__mmask64)0 : _bzhi_u64(~0ull, (unsigned)left);
        __m512i x = _mm512_maskz_loadu_epi8(valid, in + i);
        __m512i lower =
            _mm512_mask_add_epi8(x, bytes_between(x, 'A', 'Z'), x, _mm512_set1_epi8(32));
        _mm512_storeu_si512(out + i, lower);
        __mmask64 high = _mm512_movepi8_mask(x);
        if (high)
            return i + _tzcnt_u64(high);
        if (left <= 64)
            return size;
        i += 64;
    }
}

static inline void classify(const char *block, struct block_classes *classes) {
    __m512i x = _mm512_loadu_si512(block);
    classes->letter = bytes_between(x, 'a', 'z') | _mm512_movepi8_mask(x);
    classes->number = bytes_between(x, '0', '9');
    classes->underscore = bytes_equal(x, '_');
    classes->mid_letter = bytes_equal(x, '\'') | bytes_equal(x, '.');
    classes->mid_number = classes->mid_letter | bytes_equal(x, ',') | bytes_equal(x, ';');
}

static void token_mask(const char *folded, size_t blocks, bool inner, uint64_t *tokens) {
    token_mask_loop(classify, folded, blocks, inner, tokens);
}

const struct text_kernels text_kernels_avx512 = {lower_ascii, token_mask};

#endif

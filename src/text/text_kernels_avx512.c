#if defined(__x86_64__)

#include "text/text_kernels.h"

#include <immintrin.h>

#include "base/hash.h"
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

/* Writes the places of the set bits of `edges`, 16 at a time. */
static inline uint32_t *write_places(uint64_t edges, uint32_t base, uint32_t *out) {
    const __m512i numbers = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
        40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    size_t count = (size_t)_mm_popcnt_u64(edges);
    __m512i places = _mm512_maskz_compress_epi8(edges, numbers),
            bases = _mm512_set1_epi32((int)base);
    for (size_t i = 0; i < count; i += 16) {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
        _mm512_storeu_si512(out + i, _mm512_add_epi32(wide, bases));
        places = _mm512_alignr_epi64(places, places, 2);
    }
    return out + count;
}

static size_t token_spans(const uint64_t *tokens, size_t blocks, struct token_span *spans) {
    uint32_t *edges_begin = (uint32_t *)spans, *edge = edges_begin;
    uint64_t carry = 0;
    for (size_t b = 0; b < blocks; b++) {
        uint64_t mask = tokens[b], edges = mask ^ (mask << 1 | carry);
        carry = mask >> 63;
        edge = write_places(edges, (uint32_t)(b * TEXT_BLOCK_BYTES), edge);
    }
    return (size_t)(edge - edges_begin) / 2;
}

static inline __m512i multiply(__m512i x, uint64_t factor) {
    return _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)factor));
}

static inline __m512i shift_xor(__m512i x, unsigned shift) {
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, shift));
}

/* hash_pair of eight pairs. */
static inline __m512i pair8(__m512i a, __m512i b) {
    __m512i x = _mm512_add_epi64(multiply(a, 0x9e3779b97f4a7c15u), b);
    x = multiply(shift_xor(x, 30), 0xbf58476d1ce4e5b9u);
    return shift_xor(multiply(shift_xor(x, 27), 0x94d049bb133111ebu), 31);
}

static void hash_ngrams(uint64_t *hashes, size_t count, unsigned n) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m512i hash = _mm512_loadu_si512(hashes + i);
        for (unsigned j = 1; j < n; j++)
            hash = pair8(hash, _mm512_loadu_si512(hashes + i + j));
        _mm512_storeu_si512(hashes + i, hash);
    }
    text_kernels_portable.hash_ngrams(hashes + i, count - i, n);
}

/* ---- XXH3 of eight tokens of at most 16 bytes ------------------------------------------------ */

static inline uint64_t secret_word(unsigned offset) {
    return XXH_readLE64(XXH3_kSecret + offset);
}

/* 1 to 3 bytes, in the low bytes of x. */
static inline __m512i hash_tiny(__m512i x, __m512i size) {
    const __m512i byte = _mm512_set1_epi64(255);
    uint64_t flip = (uint32_t)secret_word(0) ^ (uint32_t)(secret_word(0) >> 32);
    __m512i middle = _mm512_slli_epi64(_mm512_srli_epi64(size, 1), 3);
    __m512i last = _mm512_slli_epi64(_mm512_sub_epi64(size, _mm512_set1_epi64(1)), 3);
    __m512i first = _mm512_and_si512(x, byte);
    middle = _mm512_and_si512(_mm512_srlv_epi64(x, middle), byte);
    last = _mm512_and_si512(_mm512_srlv_epi64(x, last), byte);
    __m512i h = _mm512_or_si512(_mm512_slli_epi64(first, 16), _mm512_slli_epi64(middle, 24));
    h = _mm512_or_si512(h, _mm512_or_si512(last, _mm512_slli_epi64(size, 8)));
    h = _mm512_xor_si512(h, _mm512_set1_epi64((long long)flip));
    h = multiply(shift_xor(h, 33), XXH_PRIME64_2);
    return shift_xor(multiply(shift_xor(h, 29), XXH_PRIME64_3), 32);
}

/* 4 to 8 bytes, in the low bytes of x. */
static inline __m512i hash_small(__m512i x, __m512i size) {
    uint64_t flip = secret_word(8) ^ secret_word(16);
    __m512i shift = _mm512_slli_epi64(_mm512_sub_epi64(size, _mm512_set1_epi64(4)), 3);
    __m512i end = _mm512_and_si512(_mm512_srlv_epi64(x, shift), _mm512_set1_epi64(0xffffffff));
    __m512i h = _mm512_add_epi64(end, _mm512_slli_epi64(x, 32));
    h = _mm512_xor_si512(h, _mm512_set1_epi64((long long)flip));
    h = _mm512_xor_si512(h, _mm512_xor_si512(_mm512_rol_epi64(h, 49), _mm512_rol_epi64(h, 24)));
    h = multiply(h, 0x9fb21c651e98df25u);
    h = _mm512_xor_si512(h, _mm512_add_epi64(_mm512_srli_epi64(h, 35), size));
    return shift_xor(multiply(h, 0x9fb21c651e98df25u), 28);
}

/* The upper half of the product, xor the lower half. */
static inline __m512i multiply_fold(__m512i a, __m512i b) {
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    __m512i a_high = _mm512_srli_epi64(a, 32), b_high = _mm512_srli_epi64(b, 32);
    __m512i ll = _mm512_mul_epu32(a, b), lh = _mm512_mul_epu32(a, b_high);
    __m512i hl = _mm512_mul_epu32(a_high, b), hh = _mm512_mul_epu32(a_high, b_high);
    __m512i cross = _mm512_add_epi64(_mm512_srli_epi64(ll, 32), _mm512_and_si512(hl, low));
    cross = _mm512_add_epi64(cross, lh);
    __m512i upper = _mm512_add_epi64(hh, _mm512_srli_epi64(hl, 32));
    upper = _mm512_add_epi64(upper, _mm512_srli_epi64(cross, 32));
    __m512i lower = _mm512_or_si512(_mm512_slli_epi64(cross, 32), _mm512_and_si512(ll, low));
    return _mm512_xor_si512(upper, lower);
}

static inline __m512i swap_bytes(__m512i x) {
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    return _mm512_shuffle_epi8(x, order);
}

/* 9 to 16 bytes: the first eight and the last eight. */
static inline __m512i hash_medium(__m512i first, __m512i last, __m512i size) {
    uint64_t flip_first = secret_word(24) ^ secret_word(32);
    uint64_t flip_last = secret_word(40) ^ secret_word(48);
    first = _mm512_xor_si512(first, _mm512_set1_epi64((long long)flip_first));
    last = _mm512_xor_si512(last, _mm512_set1_epi64((long long)flip_last));
    __m512i h = _mm512_add_epi64(_mm512_add_epi64(size, swap_bytes(first)),
                                 _mm512_add_epi64(last, multiply_fold(first, last)));
    h = multiply(shift_xor(h, 37), 0x165667919e3779f9u);
    return shift_xor(h, 32);
}

static void hash_tokens(const char *bytes, const struct token_span *spans, size_t count,
                        uint64_t *hashes) {
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m512i both = _mm512_loadu_si512(spans + i);
        __m512i begin = _mm512_and_si512(both, low), end = _mm512_srli_epi64(both, 32);
        __m512i size = _mm512_sub_epi64(end, begin);
        __m512i first = _mm512_i64gather_epi64(begin, bytes, 1);
        __mmask8 tiny = _mm512_cmplt_epu64_mask(size, _mm512_set1_epi64(4));
        __mmask8 medium = _mm512_cmpgt_epu64_mask(size, _mm512_set1_epi64(8));
        __mmask8 large = _mm512_cmpgt_epu64_mask(size, _mm512_set1_epi64(16));
        __m512i hash = _mm512_mask_mov_epi64(hash_small(first, size), tiny, hash_tiny(first, size));
        if (medium) {
            __m512i last = _mm512_mask_i64gather_epi64(
                first, medium, _mm512_sub_epi64(end, _mm512_set1_epi64(8)), bytes, 1);
            hash = _mm512_mask_mov_epi64(hash, medium, hash_medium(first, last, size));
        }
        _mm512_storeu_si512(hashes + i, hash);
        for (unsigned left = large; left; left &= left - 1) {
            struct token_span span = spans[i + _tzcnt_u32(left)];
            hashes[i + _tzcnt_u32(left)] = hash_bytes(bytes + span.begin, span.end - span.begin);
        }
    }
    text_kernels_portable.hash_tokens(bytes, spans + i, count - i, hashes + i);
}

const struct text_kernels text_kernels_avx512 = {lower_ascii, token_mask, token_spans, hash_tokens,
                                                 hash_ngrams};

#endif

#if defined(__x86_64__)
#include <immintrin.h>

#include "hamming/hamming.h"

enum { GROUP_ROWS = 8, GATHER_AHEAD = 16 /* rows */ };

/* The differing bits of every 64-bit column of eight; their sum is the distance. */
static inline __attribute__((always_inline)) __m512i column_counts(const uint8_t *a,
                                                                   const uint8_t *b, size_t words) {
    __m512i counts = _mm512_setzero_si512();
    size_t w = 0;
    for (; w + 8 <= words; w += 8) {
        __m512i x = _mm512_xor_si512(_mm512_loadu_si512(a + w * 8), _mm512_loadu_si512(b + w * 8));
        counts = _mm512_add_epi64(counts, _mm512_popcnt_epi64(x));
    }
    if (words - w == 4) {
        __m256i x =
            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(a + w * 8)),
                             _mm256_loadu_si256((const __m256i *)(const void *)(b + w * 8)));
        counts = _mm512_add_epi64(counts, _mm512_zextsi256_si512(_mm256_popcnt_epi64(x)));
    } else if (w < words) {
        __mmask8 rest = (__mmask8)((1u << (words - w)) - 1);
        __m512i x = _mm512_xor_si512(_mm512_maskz_loadu_epi64(rest, a + w * 8),
                                     _mm512_maskz_loadu_epi64(rest, b + w * 8));
        counts = _mm512_add_epi64(counts, _mm512_popcnt_epi64(x));
    }
    return counts;
}

/* Four rows' counts in the four 16-bit parts of each column. */
static inline __m512i pack_four(const __m512i *counts) {
    __m512i low = _mm512_or_si512(counts[0], _mm512_slli_epi64(counts[1], 16));
    return _mm512_ternarylogic_epi64(low, _mm512_slli_epi64(counts[2], 32),
                                     _mm512_slli_epi64(counts[3], 48), 0xfe);
}

/* Eight rows share one horizontal sum: every sum is below 65536, so four travel in a 64-bit column.
 */
static inline __attribute__((always_inline)) __m128i
eight_distances(const uint8_t *query, const uint8_t *const row[GROUP_ROWS], size_t words) {
    __m512i counts[GROUP_ROWS];
    for (int i = 0; i < GROUP_ROWS; i++)
        counts[i] = column_counts(query, row[i], words);
    __m512i first = pack_four(counts), second = pack_four(counts + 4);
    __m512i sum = _mm512_add_epi16(_mm512_unpacklo_epi64(first, second),
                                   _mm512_unpackhi_epi64(first, second));
    __m256i half = _mm256_add_epi16(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
    return _mm_add_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

static uint32_t pair_avx512(const uint8_t *a, const uint8_t *b, size_t words) {
    return (uint32_t)_mm512_reduce_add_epi64(column_counts(a, b, words));
}

static inline void store_some(uint16_t *distances, size_t count, __m128i values) {
    _mm_mask_storeu_epi16(distances, (__mmask8)((1u << count) - 1), values);
}

static inline __attribute__((always_inline)) void scan_words(const uint8_t *query,
                                                             const uint8_t *rows,
                                                             size_t stride_bytes, size_t words,
                                                             size_t count, uint16_t *distances) {
    const uint8_t *row[GROUP_ROWS];
    size_t i = 0;
    for (; i + GROUP_ROWS <= count; i += GROUP_ROWS) {
        for (size_t j = 0; j < GROUP_ROWS; j++)
            row[j] = rows + (i + j) * stride_bytes;
        hamming_prefetch(row[0] + HAMMING_SCAN_AHEAD_BYTES, GROUP_ROWS * stride_bytes);
        _mm_storeu_si128((__m128i *)(distances + i), eight_distances(query, row, words));
    }
    if (i == count)
        return;
    for (size_t j = 0; j < GROUP_ROWS; j++)
        row[j] = rows + (i + j < count ? i + j : i) * stride_bytes;
    store_some(distances + i, count - i, eight_distances(query, row, words));
}

/* Rows of one word without gaps: eight to a register, no horizontal sum. */
static void scan_one_word(const uint8_t *query, const uint8_t *rows, size_t count,
                          uint16_t *distances) {
    int64_t word;
    memcpy(&word, query, sizeof word);
    const __m512i wanted = _mm512_set1_epi64(word);
    for (size_t i = 0; i < count; i += 8) {
        size_t left = count - i;
        __builtin_prefetch(rows + i * 8 + HAMMING_SCAN_AHEAD_BYTES);
        __mmask8 part = left >= 8 ? 0xff : (__mmask8)((1u << left) - 1);
        __m512i x = _mm512_xor_si512(wanted, _mm512_maskz_loadu_epi64(part, rows + i * 8));
        _mm_mask_storeu_epi16(distances + i, part, _mm512_cvtepi64_epi16(_mm512_popcnt_epi64(x)));
    }
}

/* Rows of two words without gaps: the two words of four rows lie in one register. */
static void scan_two_words(const uint8_t *query, const uint8_t *rows, size_t count,
                           uint16_t *distances) {
    const __m512i wanted = _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)query));
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        hamming_prefetch(rows + i * 16 + HAMMING_SCAN_AHEAD_BYTES, 8 * 16);
        __m512i a = _mm512_xor_si512(wanted, _mm512_loadu_si512(rows + i * 16));
        __m512i b = _mm512_xor_si512(wanted, _mm512_loadu_si512(rows + i * 16 + 64));
        a = _mm512_popcnt_epi64(a);
        b = _mm512_popcnt_epi64(b);
        __m512i sums = _mm512_add_epi64(_mm512_permutex2var_epi64(a, even, b),
                                        _mm512_permutex2var_epi64(a, odd, b));
        _mm_storeu_si128((__m128i *)(distances + i), _mm512_cvtepi64_epi16(sums));
    }
    scan_words(query, rows + i * 16, 16, 2, count - i, distances + i);
}

static void scan_avx512(const uint8_t *query, const uint8_t *rows, size_t stride_bytes,
                        size_t words, size_t count, uint16_t *distances) {
    if (words == 1 && stride_bytes == 8)
        scan_one_word(query, rows, count, distances);
    else if (words == 2 && stride_bytes == 16)
        scan_two_words(query, rows, count, distances);
    else if (words == 4)
        scan_words(query, rows, stride_bytes, 4, count, distances);
    else if (words == 8)
        scan_words(query, rows, stride_bytes, 8, count, distances);
    else if (words == 16)
        scan_words(query, rows, stride_bytes, 16, count, distances);
    else
        scan_words(query, rows, stride_bytes, words, count, distances);
}

static inline __attribute__((always_inline)) void
gather_words(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
             const uint32_t *numbers, size_t count, uint16_t *distances) {
    const uint8_t *row[GROUP_ROWS];
    for (size_t i = 0; i < count; i += GROUP_ROWS) {
        for (size_t j = i + GATHER_AHEAD; j < i + GATHER_AHEAD + GROUP_ROWS && j < count; j++)
            hamming_prefetch(rows + numbers[j] * stride_bytes, words * 8);
        for (size_t j = 0; j < GROUP_ROWS; j++)
            row[j] = rows + numbers[i + j < count ? i + j : i] * stride_bytes;
        __m128i values = eight_distances(query, row, words);
        if (count - i >= GROUP_ROWS)
            _mm_storeu_si128((__m128i *)(distances + i), values);
        else
            store_some(distances + i, count - i, values);
    }
}

static void gather_avx512(const uint8_t *query, const uint8_t *rows, size_t stride_bytes,
                          size_t words, const uint32_t *numbers, size_t count,
                          uint16_t *distances) {
    if (words == 1)
        gather_words(query, rows, stride_bytes, 1, numbers, count, distances);
    else if (words == 16)
        gather_words(query, rows, stride_bytes, 16, numbers, count, distances);
    else
        gather_words(query, rows, stride_bytes, words, numbers, count, distances);
}

static size_t select_avx512(const uint16_t *distances, size_t count, uint32_t limit,
                            uint32_t *positions) {
    const __m512i most = _mm512_set1_epi16((short)(limit > UINT16_MAX ? UINT16_MAX : limit));
    size_t found = 0;
    for (size_t i = 0; i < count; i += 32) {
        size_t left = count - i;
        __mmask32 part = left >= 32 ? UINT32_MAX : (1u << left) - 1;
        __m512i x = _mm512_maskz_loadu_epi16(part, distances + i);
        uint32_t within = _mm512_mask_cmple_epu16_mask(part, x, most);
        for (; within; within &= within - 1)
            positions[found++] = (uint32_t)(i + (size_t)__builtin_ctz(within));
    }
    return found;
}

const struct hamming_kernels hamming_avx512 = {
    .level = CPU_AVX512,
    .pair = pair_avx512,
    .scan = scan_avx512,
    .gather = gather_avx512,
    .select = select_avx512,
};
#endif

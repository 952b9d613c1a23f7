/* VPOPCNTDQ, vertically: a register holds the same word of eight rows, a query's word is broadcast,
 * and the eight sums need no horizontal step. Two operations and an addition for 512 bits. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "hamming/hamming_tile.h"

enum { LANES = 8, LANE_GROUPS = 2, QUERIES_AT_ONCE = 4, STEP_ROWS = LANES * LANE_GROUPS };

static size_t queries_bytes(size_t words) {
    return TILE_QUERIES * words * 8;
}

static size_t rows_bytes(size_t words) {
    return TILE_ROWS * words * 8;
}

/* Plain rows; those missing to a multiple of QUERIES_AT_ONCE are zero. */
static void prepare_queries(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                            uint8_t *panel) {
    size_t missing = (QUERIES_AT_ONCE - count % QUERIES_AT_ONCE) % QUERIES_AT_ONCE;
    memset(panel + count * words * 8, 0, missing * words * 8);
    for (size_t i = 0; i < count; i++)
        memcpy(panel + i * words * 8, rows + i * stride_bytes, words * 8);
}

/* Strips of 16 rows: word 0 of all, word 1 of all... */
static void prepare_rows(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         uint8_t *panel) {
    if (count < TILE_ROWS)
        memset(panel, 0, rows_bytes(words));
    for (size_t i = 0; i < count; i++) {
        uint8_t *to = panel + i / STEP_ROWS * STEP_ROWS * words * 8 + i % STEP_ROWS * 8;
        for (size_t w = 0; w < words; w++)
            memcpy(to + w * STEP_ROWS * 8, rows + i * stride_bytes + w * 8, 8);
    }
}

/* Sums of two groups of rows. At the edges of a band often only one is wanted; the sums of the
 * other are then above every limit. */
struct sums {
    __m512i of[QUERIES_AT_ONCE][LANE_GROUPS];
    bool wanted[LANE_GROUPS];
};

static inline bool sums_begin(struct sums *sums, const struct hamming_comparison *comparison,
                              size_t query, size_t row) {
    bool any = false;
    for (int g = 0; g < LANE_GROUPS; g++, row += LANES) {
        sums->wanted[g] =
            comparison_wants(comparison, query, query + QUERIES_AT_ONCE - 1, row, row + LANES);
        any |= sums->wanted[g];
        for (int q = 0; q < QUERIES_AT_ONCE; q++)
            sums->of[q][g] = _mm512_set1_epi64(sums->wanted[g] ? 0 : INT64_MAX);
    }
    return any;
}

/* Groups [first, last] of the strip. */
static inline __attribute__((always_inline)) void
add_words(struct sums *sums, const uint8_t *queries, const uint8_t *strip, size_t words,
          size_t begin, size_t end, int first, int last) {
    for (size_t w = begin; w < end; w++) {
        __m512i rows[LANE_GROUPS];
        for (int g = first; g <= last; g++)
            rows[g] = _mm512_load_si512(strip + (w * LANE_GROUPS + (size_t)g) * 64);
        for (int q = 0; q < QUERIES_AT_ONCE; q++) {
            int64_t word;
            memcpy(&word, queries + ((size_t)q * words + w) * 8, 8);
            for (int g = first; g <= last; g++) {
                __m512i x = _mm512_xor_si512(rows[g], _mm512_set1_epi64(word));
                sums->of[q][g] = _mm512_add_epi64(sums->of[q][g], _mm512_popcnt_epi64(x));
            }
        }
    }
}

static inline __attribute__((always_inline)) void
sums_add(struct sums *sums, const struct hamming_comparison *comparison, size_t query, size_t row,
         size_t begin, size_t end) {
    const size_t words = comparison->words;
    const uint8_t *queries = comparison->queries + query * words * 8;
    const uint8_t *strip = comparison->rows + row * words * 8;
    if (sums->wanted[0] && sums->wanted[1])
        add_words(sums, queries, strip, words, begin, end, 0, 1);
    else if (sums->wanted[0])
        add_words(sums, queries, strip, words, begin, end, 0, 0);
    else
        add_words(sums, queries, strip, words, begin, end, 1, 1);
}

static inline uint64_t rows_within(const struct sums *sums, int q, uint32_t limit) {
    const __m512i most = _mm512_set1_epi64(limit);
    return _mm512_cmple_epu64_mask(sums->of[q][0], most) |
           (uint64_t)_mm512_cmple_epu64_mask(sums->of[q][1], most) << LANES;
}

static inline void sums_store(const struct sums *sums, int q, uint16_t *distances) {
    for (int g = 0; g < LANE_GROUPS; g++)
        _mm_storeu_si128((__m128i *)(void *)(distances + g * LANES),
                         _mm512_cvtepi64_epi16(sums->of[q][g]));
}

#include "hamming/hamming_tile_loop.h"

const struct hamming_tile hamming_tile_avx512 = {
    .name = "avx512",
    .panel_rows = TILE_ROWS,
    .worthwhile_queries = 32,
    .band_queries = 32,
    .queries_bytes = queries_bytes,
    .rows_bytes = rows_bytes,
    .prepare_queries = prepare_queries,
    .prepare_rows = prepare_rows,
    .compare = compare,
};
#endif

/* VPOPCNTDQ, vertically: a register holds the same word of eight rows, a query's word is broadcast,
 * and the eight sums need no horizontal step. Two operations and an addition for 512 bits. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "hamming/hamming_tile_levels.h"

enum { LANES = 8, LANE_GROUPS = 2, QUERIES_AT_ONCE = 4, STRIP_ROWS = LANES * LANE_GROUPS };

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
        uint8_t *to = panel + i / STRIP_ROWS * STRIP_ROWS * words * 8 + i % STRIP_ROWS * 8;
        for (size_t w = 0; w < words; w++)
            memcpy(to + w * STRIP_ROWS * 8, rows + i * stride_bytes + w * 8, 8);
    }
}

struct sums {
    __m512i of[QUERIES_AT_ONCE][LANE_GROUPS];
};

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

/* Which of the 16 rows are within the limit of query q. */
static inline uint32_t rows_within(const struct sums *sums, int q, uint32_t limit) {
    const __m512i most = _mm512_set1_epi64(limit);
    return _mm512_cmple_epu64_mask(sums->of[q][0], most) |
           (uint32_t)_mm512_cmple_epu64_mask(sums->of[q][1], most) << LANES;
}

static inline bool any_within(const struct sums *sums, const uint16_t *limits) {
    uint32_t within = 0;
    for (int q = 0; q < QUERIES_AT_ONCE; q++)
        within |= rows_within(sums, q, limits[q]);
    return within != 0;
}

static size_t list_hits(const struct sums *sums, const struct hamming_comparison *comparison,
                        const uint16_t *limits, size_t query, size_t row,
                        struct hamming_hit *hits) {
    size_t found = 0;
    uint64_t distances[STRIP_ROWS];
    size_t rows = comparison->row_count - row;
    uint32_t present = rows < STRIP_ROWS ? (1u << rows) - 1 : 0xffff;
    for (int q = 0; q < QUERIES_AT_ONCE && query + (size_t)q < comparison->query_count; q++) {
        uint32_t within = rows_within(sums, q, limits[q]) & present;
        if (!within)
            continue;
        _mm512_storeu_si512(distances, sums->of[q][0]);
        _mm512_storeu_si512(distances + LANES, sums->of[q][1]);
        for (; within; within &= within - 1) {
            int lane = __builtin_ctz(within);
            size_t found_row = row + (size_t)lane, found_query = query + (size_t)q;
            if (!comparison_wants(comparison, found_query, found_query, found_row, found_row + 1))
                continue;
            hits[found++] = (struct hamming_hit){(uint32_t)distances[lane], (uint16_t)found_query,
                                                 (uint16_t)found_row};
        }
    }
    return found;
}

/* Four queries with groups [first, last] of a strip; no row of the others is within a limit. */
static inline __attribute__((always_inline)) size_t
compare_groups(const struct hamming_comparison *comparison, size_t query, size_t row, size_t early,
               int first, int last, struct hamming_hit *hits) {
    const size_t words = comparison->words;
    const uint8_t *strip = comparison->rows + row * words * 8;
    const uint8_t *queries = comparison->queries + query * words * 8;
    uint16_t limits[QUERIES_AT_ONCE] = {0};
    for (size_t q = 0; q < QUERIES_AT_ONCE && query + q < comparison->query_count; q++)
        limits[q] = comparison->limits[query + q];
    struct sums sums;
    for (int q = 0; q < QUERIES_AT_ONCE; q++)
        for (int g = 0; g < LANE_GROUPS; g++)
            sums.of[q][g] = _mm512_set1_epi64(g < first || g > last ? INT64_MAX : 0);
    add_words(&sums, queries, strip, words, 0, early, first, last);
    if (!any_within(&sums, limits))
        return 0;
    add_words(&sums, queries, strip, words, early, words, first, last);
    return list_hits(&sums, comparison, limits, query, row, hits);
}

/* At the edges of a band often one group of a strip is wanted only. */
static size_t compare_strip(const struct hamming_comparison *comparison, size_t query, size_t row,
                            size_t early, struct hamming_hit *hits) {
    const size_t last_query = query + QUERIES_AT_ONCE - 1;
    bool first = comparison_wants(comparison, query, last_query, row, row + LANES);
    bool second = comparison_wants(comparison, query, last_query, row + LANES, row + STRIP_ROWS);
    if (first && second)
        return compare_groups(comparison, query, row, early, 0, 1, hits);
    if (first)
        return compare_groups(comparison, query, row, early, 0, 0, hits);
    return second ? compare_groups(comparison, query, row, early, 1, 1, hits) : 0;
}

static size_t compare(const struct hamming_comparison *comparison, struct hamming_hit *hits) {
    const size_t early = abandon_words(comparison->words, comparison_limit(comparison));
    size_t found = 0;
    for (size_t row = 0; row < comparison->row_count; row += STRIP_ROWS)
        for (size_t query = 0; query < comparison->query_count; query += QUERIES_AT_ONCE)
            found += compare_strip(comparison, query, row, early, hits + found);
    return found;
}

const struct hamming_tile hamming_tile_avx512 = {
    .name = "avx512",
    .panel_rows = TILE_ROWS,
    .worthwhile_queries = 32,
    .queries_bytes = queries_bytes,
    .rows_bytes = rows_bytes,
    .prepare_queries = prepare_queries,
    .prepare_rows = prepare_rows,
    .compare = compare,
};
#endif

/* The nibble-table tile. A panel of rows is transposed so that a register holds the same nibble of
 * 32 rows; a query's nibble picks one of 16 constant tables with the distances to all 16 nibble
 * values: one shuffle and one addition serve 32 rows. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "hamming/hamming_tile_levels.h"

enum {
    QUERIES_AT_ONCE = 4,
    WORD_NIBBLES = 16,
    TABLE_BYTES = 32,
    FLUSH_WORDS = 3, /* 192 bits: a byte counter cannot wrap */
};

/* distances[v][w]: bits in which the nibbles v and w differ, twice over for the two halves of a
 * register. */
#define DISTANCE(v, w) __builtin_popcount((v) ^ (w))
#define HALF(v)                                                                                    \
    DISTANCE(v, 0), DISTANCE(v, 1), DISTANCE(v, 2), DISTANCE(v, 3), DISTANCE(v, 4),                \
        DISTANCE(v, 5), DISTANCE(v, 6), DISTANCE(v, 7), DISTANCE(v, 8), DISTANCE(v, 9),            \
        DISTANCE(v, 10), DISTANCE(v, 11), DISTANCE(v, 12), DISTANCE(v, 13), DISTANCE(v, 14),       \
        DISTANCE(v, 15)
#define TABLE(v)                                                                                   \
    { HALF(v), HALF(v) }
static const uint8_t nibble_distances[16][TABLE_BYTES] __attribute__((aligned(64))) = {
    TABLE(0), TABLE(1), TABLE(2),  TABLE(3),  TABLE(4),  TABLE(5),  TABLE(6),  TABLE(7),
    TABLE(8), TABLE(9), TABLE(10), TABLE(11), TABLE(12), TABLE(13), TABLE(14), TABLE(15)};

static size_t queries_bytes(size_t words) {
    return TILE_QUERIES * words * WORD_NIBBLES * sizeof(uint16_t);
}

static size_t rows_bytes(size_t words) {
    return TILE_ROWS * words * WORD_NIBBLES;
}

/* For four queries after another: each nibble of each as the offset of its table. */
static void prepare_queries(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                            uint8_t *panel) {
    uint16_t *offsets = (uint16_t *)(void *)panel;
    if (count % QUERIES_AT_ONCE)
        memset(offsets + count / QUERIES_AT_ONCE * QUERIES_AT_ONCE * words * WORD_NIBBLES, 0,
               QUERIES_AT_ONCE * words * WORD_NIBBLES * sizeof *offsets);
    for (size_t i = 0; i < count; i++) {
        uint16_t *to = offsets + i / QUERIES_AT_ONCE * QUERIES_AT_ONCE * words * WORD_NIBBLES +
                       i % QUERIES_AT_ONCE;
        for (size_t byte = 0; byte < words * 8; byte++) {
            uint8_t value = rows[i * stride_bytes + byte];
            to[(byte * 2) * QUERIES_AT_ONCE] = (uint16_t)((value & 15) * TABLE_BYTES);
            to[(byte * 2 + 1) * QUERIES_AT_ONCE] = (uint16_t)((value >> 4) * TABLE_BYTES);
        }
    }
}

/* 16 rows of 16 bytes become 16 columns: four rounds of interleaving the first half with the
 * second. */
static inline void transpose_bytes(__m128i x[16]) {
    for (int round = 0; round < 4; round++) {
        __m128i y[16];
        for (int i = 0; i < 8; i++) {
            y[2 * i] = _mm_unpacklo_epi8(x[i], x[i + 8]);
            y[2 * i + 1] = _mm_unpackhi_epi8(x[i], x[i + 8]);
        }
        memcpy(x, y, sizeof y);
    }
}

/* panel[nibble][row]. Two words of 16 rows at a time. */
static void prepare_rows(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         uint8_t *panel) {
    const __m128i low = _mm_set1_epi8(15);
    for (size_t first = 0; first < TILE_ROWS; first += 16) {
        for (size_t word = 0; word < words; word += 2) {
            __m128i x[16];
            for (size_t i = 0; i < 16; i++) {
                const uint8_t *from = rows + (first + i) * stride_bytes + word * 8;
                if (first + i >= count)
                    x[i] = _mm_setzero_si128();
                else if (word + 1 < words)
                    x[i] = _mm_loadu_si128((const __m128i *)(const void *)from);
                else
                    x[i] = _mm_loadl_epi64((const __m128i *)(const void *)from);
            }
            transpose_bytes(x);
            size_t bytes = word + 1 < words ? 16 : 8;
            uint8_t *to = panel + word * WORD_NIBBLES * TILE_ROWS + first;
            for (size_t i = 0; i < bytes; i++) {
                __m128i high = _mm_and_si128(_mm_srli_epi16(x[i], 4), low);
                _mm_store_si128((__m128i *)(void *)(to + 2 * i * TILE_ROWS),
                                _mm_and_si128(x[i], low));
                _mm_store_si128((__m128i *)(void *)(to + (2 * i + 1) * TILE_ROWS), high);
            }
        }
    }
}

/* Sums of 16 bits: even rows in the first half of each register pair, odd rows in the second. */
struct sums {
    __m256i of[QUERIES_AT_ONCE][2][2]; /* [query][32 rows][even, odd] */
};

static __attribute__((noinline)) void add_nibbles(struct sums *sums, const uint16_t *offsets,
                                                  const uint8_t *rows, size_t nibbles) {
    __m256i counts[QUERIES_AT_ONCE][2];
    const uint8_t *tables = &nibble_distances[0][0];
    for (int q = 0; q < QUERIES_AT_ONCE; q++)
        counts[q][0] = counts[q][1] = _mm256_setzero_si256();
/* Unrolled and by itself, or the compiler spills a counter inside the loop. */
#pragma GCC unroll 4
    for (size_t n = 0; n < nibbles; n++) {
        __m256i first = _mm256_load_si256((const __m256i *)(const void *)(rows + n * TILE_ROWS));
        __m256i second =
            _mm256_load_si256((const __m256i *)(const void *)(rows + n * TILE_ROWS + 32));
        for (int q = 0; q < QUERIES_AT_ONCE; q++) {
            __m256i table = _mm256_load_si256(
                (const __m256i *)(const void *)(tables + offsets[n * QUERIES_AT_ONCE + (size_t)q]));
            counts[q][0] = _mm256_add_epi8(counts[q][0], _mm256_shuffle_epi8(table, first));
            counts[q][1] = _mm256_add_epi8(counts[q][1], _mm256_shuffle_epi8(table, second));
        }
    }
    const __m256i low = _mm256_set1_epi16(255);
    for (int q = 0; q < QUERIES_AT_ONCE; q++)
        for (int half = 0; half < 2; half++) {
            __m256i *to = sums->of[q][half];
            to[0] = _mm256_add_epi16(to[0], _mm256_and_si256(counts[q][half], low));
            to[1] = _mm256_add_epi16(to[1], _mm256_srli_epi16(counts[q][half], 8));
        }
}

static inline void add_words(struct sums *sums, const uint16_t *offsets, const uint8_t *rows,
                             size_t begin, size_t end) {
    for (size_t w = begin; w < end; w += FLUSH_WORDS) {
        size_t nibbles = (end - w < FLUSH_WORDS ? end - w : FLUSH_WORDS) * WORD_NIBBLES;
        add_nibbles(sums, offsets + w * WORD_NIBBLES * QUERIES_AT_ONCE,
                    rows + w * WORD_NIBBLES * TILE_ROWS, nibbles);
    }
}

/* Bit r is set when row r is within the limit. */
static inline uint64_t rows_within(const struct sums *sums, int q, uint16_t limit) {
    const __m256i most = _mm256_set1_epi16((short)limit);
    uint64_t within = 0;
    for (int half = 0; half < 2; half++) {
        __m256i even = sums->of[q][half][0], odd = sums->of[q][half][1];
        even = _mm256_cmpeq_epi16(_mm256_min_epu16(even, most), even);
        odd = _mm256_cmpeq_epi16(_mm256_min_epu16(odd, most), odd);
        __m256i bytes = _mm256_blendv_epi8(even, odd, _mm256_set1_epi16((short)0xff00));
        within |= (uint64_t)(uint32_t)_mm256_movemask_epi8(bytes) << (32 * half);
    }
    return within;
}

static inline bool any_within(const struct sums *sums, const uint16_t *limits) {
    uint64_t within = 0;
    for (int q = 0; q < QUERIES_AT_ONCE; q++)
        within |= rows_within(sums, q, limits[q]);
    return within != 0;
}

static size_t list_hits(const struct sums *sums, const struct hamming_comparison *comparison,
                        const uint16_t *limits, size_t query, size_t first_row,
                        struct hamming_hit *hits) {
    size_t found = 0;
    const size_t rows = comparison->row_count - first_row;
    const uint64_t present = rows < 64 ? (UINT64_C(1) << rows) - 1 : UINT64_MAX;
    for (int q = 0; q < QUERIES_AT_ONCE && query + (size_t)q < comparison->query_count; q++) {
        uint64_t within = rows_within(sums, q, limits[q]) & present;
        uint16_t distances[2][2][16];
        if (within)
            memcpy(distances, sums->of[q], sizeof distances);
        for (; within; within &= within - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(within);
            size_t row = first_row + lane, found_query = query + (size_t)q;
            if (!comparison_wants(comparison, found_query, found_query, row, row + 1))
                continue;
            hits[found++] = (struct hamming_hit){distances[lane / 32][lane % 2][lane % 32 / 2],
                                                 (uint16_t)found_query, (uint16_t)row};
        }
    }
    return found;
}

/* One panel of rows with four queries. */
static size_t compare_four(const struct hamming_comparison *comparison, size_t query, size_t row,
                           size_t early, struct hamming_hit *hits) {
    const size_t words = comparison->words;
    const uint16_t *offsets =
        (const uint16_t *)(const void *)comparison->queries + query * words * WORD_NIBBLES;
    const uint8_t *rows = comparison->rows + row * words * WORD_NIBBLES;
    uint16_t limits[QUERIES_AT_ONCE] = {0};
    for (size_t q = 0; q < QUERIES_AT_ONCE && query + q < comparison->query_count; q++)
        limits[q] = comparison->limits[query + q];
    struct sums sums;
    memset(&sums, 0, sizeof sums);
    add_words(&sums, offsets, rows, 0, early);
    if (!any_within(&sums, limits))
        return 0;
    add_words(&sums, offsets, rows, early, words);
    return list_hits(&sums, comparison, limits, query, row, hits);
}

static size_t compare(const struct hamming_comparison *comparison, struct hamming_hit *hits) {
    const size_t early = abandon_words(comparison->words, comparison_limit(comparison));
    size_t found = 0;
    for (size_t row = 0; row < comparison->row_count; row += TILE_ROWS)
        for (size_t query = 0; query < comparison->query_count; query += QUERIES_AT_ONCE)
            if (comparison_wants(comparison, query, query + QUERIES_AT_ONCE - 1, row,
                                 row + TILE_ROWS))
                found += compare_four(comparison, query, row, early, hits + found);
    return found;
}

const struct hamming_tile hamming_tile_avx2 = {
    .name = "avx2",
    .panel_rows = TILE_ROWS,
    .worthwhile_queries = 8,
    .least_queries_a_row = 40,
    .queries_bytes = queries_bytes,
    .rows_bytes = rows_bytes,
    .prepare_queries = prepare_queries,
    .prepare_rows = prepare_rows,
    .compare = compare,
};
#endif

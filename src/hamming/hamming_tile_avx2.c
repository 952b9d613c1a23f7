/* The nibble-table tile. A panel of rows is transposed so that a register holds the same nibble of
 * 32 rows; a query's nibble picks one of 16 constant tables with the distances to all 16 nibble
 * values: one shuffle and one addition serve 32 rows. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "hamming/hamming_tile.h"

enum {
    QUERIES_AT_ONCE = 4,
    STEP_ROWS = TILE_ROWS,
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

/* By groups of four queries: each nibble of each query as the offset of its table. */
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
/* Unrolled and in a function of its own: otherwise the compiler spills a counter inside the loop.
 */
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

static inline bool sums_begin(struct sums *sums, const struct hamming_comparison *comparison,
                              size_t query, size_t row) {
    if (!comparison_wants(comparison, query, query + QUERIES_AT_ONCE - 1, row, row + STEP_ROWS))
        return false;
    memset(sums, 0, sizeof *sums);
    return true;
}

static inline void sums_add(struct sums *sums, const struct hamming_comparison *comparison,
                            size_t query, size_t row, size_t begin, size_t end) {
    const size_t row_nibbles = comparison->words * WORD_NIBBLES;
    const uint16_t *offsets =
        (const uint16_t *)(const void *)comparison->queries + query * row_nibbles;
    const uint8_t *rows = comparison->rows + row * row_nibbles;
    for (size_t w = begin; w < end; w += FLUSH_WORDS) {
        size_t nibbles = (end - w < FLUSH_WORDS ? end - w : FLUSH_WORDS) * WORD_NIBBLES;
        add_nibbles(sums, offsets + w * WORD_NIBBLES * QUERIES_AT_ONCE,
                    rows + w * WORD_NIBBLES * TILE_ROWS, nibbles);
    }
}

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

/* Even and odd rows take turns. */
static inline void sums_store(const struct sums *sums, int q, uint16_t *distances) {
    for (int half = 0; half < 2; half++) {
        __m256i *to = (__m256i *)(void *)(distances + 32 * half);
        __m256i low = _mm256_unpacklo_epi16(sums->of[q][half][0], sums->of[q][half][1]);
        __m256i high = _mm256_unpackhi_epi16(sums->of[q][half][0], sums->of[q][half][1]);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
    }
}

#include "hamming/hamming_tile_loop.h"

const struct hamming_tile hamming_tile_avx2 = {
    .name = "avx2",
    .panel_rows = TILE_ROWS,
    .worthwhile_queries = 8,
    .band_queries = 32,
    .least_queries_per_row = 40,
    .queries_bytes = queries_bytes,
    .rows_bytes = rows_bytes,
    .prepare_queries = prepare_queries,
    .prepare_rows = prepare_rows,
    .compare = compare,
};
#endif

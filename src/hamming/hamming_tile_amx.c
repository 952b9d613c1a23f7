/* The matrix unit (AMX): a bit becomes a byte, 0 or -1 in rows and +1 or -1 in queries, and the
 * distance is the query's number of ones plus a dot product: a differing bit of the row adds 1
 * where the query has 0, an agreeing one takes 1 back. One instruction sums 64 bits of 16 x 16
 * pairs. */
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hamming/hamming_tile_levels.h"

enum {
    SIDE = 16,         /* rows, and queries, of a tile register */
    TILE_BYTES = 1024, /* 16 rows of 64 bytes */
    BLOCK = 2 * SIDE,  /* 2 x 2 sums are in registers at once */
    REQUEST_STATE_PERMISSION = 0x1023,
    TILE_STATE = 18,
};

bool hamming_tile_amx_available(void) {
    unsigned a, b, c, d;
    const unsigned tile_and_int8 = 1u << 24 | 1u << 25;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & tile_and_int8) != tile_and_int8)
        return false;
    return syscall(SYS_arch_prctl, REQUEST_STATE_PERMISSION, TILE_STATE) == 0;
}

/* The ones among the first w words of each query, then the tiles. */
static size_t prefix_bytes(size_t words) {
    return (words + 1) * TILE_QUERIES * sizeof(int32_t);
}

static size_t queries_bytes(size_t words) {
    return prefix_bytes(words) + TILE_QUERIES * words * 64;
}

static size_t rows_bytes(size_t words) {
    return BLOCK * words * 64;
}

/* Tiles [16 queries][word]: the second factor, in which line l of a tile holds bytes 4l to 4l+3 of
 * each. */
static void prepare_queries(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                            uint8_t *panel) {
    memset(panel, 0, queries_bytes(words));
    int32_t(*ones)[TILE_QUERIES] = (int32_t(*)[TILE_QUERIES])(void *)panel;
    uint8_t *tiles = panel + prefix_bytes(words);
    for (size_t i = 0; i < count; i++) {
        uint8_t *to = tiles + i / SIDE * words * TILE_BYTES + i % SIDE * 4;
        for (size_t w = 0; w < words; w++) {
            uint64_t word;
            memcpy(&word, rows + i * stride_bytes + w * 8, 8);
            ones[w + 1][i] = ones[w][i] + __builtin_popcountll(word);
            __m512i signs = _mm512_mask_blend_epi8(word, _mm512_set1_epi8(-1), _mm512_set1_epi8(1));
            uint32_t lines[SIDE];
            _mm512_storeu_si512(lines, signs);
            for (size_t line = 0; line < SIDE; line++)
                memcpy(to + w * TILE_BYTES + line * 64, &lines[line], 4);
        }
    }
}

/* Tiles [16 rows][word]: the first factor, a line for each row. */
static void prepare_rows(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         uint8_t *panel) {
    if (count < BLOCK)
        memset(panel, 0, rows_bytes(words));
    for (size_t i = 0; i < count; i++) {
        uint8_t *to = panel + i / SIDE * words * TILE_BYTES + i % SIDE * 64;
        for (size_t w = 0; w < words; w++) {
            uint64_t word;
            memcpy(&word, rows + i * stride_bytes + w * 8, 8);
            _mm512_store_si512(to + w * TILE_BYTES, _mm512_movm_epi8(word));
        }
    }
}

static void configure(void) {
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t line_bytes[16];
        uint8_t lines[16];
    } configuration = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        configuration.line_bytes[i] = 64;
        configuration.lines[i] = SIDE;
    }
    _tile_loadconfig(&configuration);
}

/* Registers 0 to 3 += rows (4, 5) x queries (6, 7) over words [begin, end). The rows stay in the
 * first-level cache while queries stream past them. */
static inline void multiply(const uint8_t *rows, const uint8_t *queries, size_t words, size_t begin,
                            size_t end) {
    const size_t other = words * TILE_BYTES;
    for (size_t at = begin * TILE_BYTES; at < end * TILE_BYTES; at += TILE_BYTES) {
        _tile_loadd(4, rows + at, 64);
        _tile_stream_loadd(6, queries + at, 64);
        _tile_dpbssd(0, 4, 6);
        _tile_stream_loadd(7, queries + other + at, 64);
        _tile_dpbssd(1, 4, 7);
        _tile_loadd(5, rows + other + at, 64);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
}

struct sums {
    int32_t of[BLOCK][BLOCK]; /* [row][query] */
};

static inline void store_sums(struct sums *sums) {
    _tile_stored(0, &sums->of[0][0], sizeof sums->of[0]);
    _tile_stored(1, &sums->of[0][SIDE], sizeof sums->of[0]);
    _tile_stored(2, &sums->of[SIDE][0], sizeof sums->of[0]);
    _tile_stored(3, &sums->of[SIDE][SIDE], sizeof sums->of[0]);
}

/* The greatest sum that keeps each query within its limit after `words`; none for missing queries.
 */
static void find_bounds(const struct hamming_comparison *comparison, size_t words,
                        int32_t bounds[TILE_QUERIES]) {
    const int32_t *ones = (const int32_t *)(const void *)comparison->queries + words * TILE_QUERIES;
    for (size_t q = 0; q < TILE_QUERIES; q++)
        bounds[q] = q < comparison->query_count ? comparison->limits[q] - ones[q] : INT32_MIN;
}

static inline bool any_within(const struct sums *sums, const int32_t *bounds) {
    const __m512i first = _mm512_loadu_si512(bounds), second = _mm512_loadu_si512(bounds + SIDE);
    uint32_t within = 0;
    for (size_t row = 0; row < BLOCK; row++) {
        const int32_t *line = sums->of[row];
        within |= _mm512_cmple_epi32_mask(_mm512_load_si512(line), first);
        within |= _mm512_cmple_epi32_mask(_mm512_load_si512(line + SIDE), second);
    }
    return within != 0;
}

static size_t list_hits(const struct sums *sums, const struct hamming_comparison *comparison,
                        const int32_t *bounds, size_t first_query, struct hamming_hit *hits) {
    const __m512i first = _mm512_loadu_si512(bounds), second = _mm512_loadu_si512(bounds + SIDE);
    size_t found = 0;
    for (size_t row = 0; row < comparison->row_count; row++) {
        const int32_t *line = sums->of[row];
        uint32_t within = _mm512_cmple_epi32_mask(_mm512_load_si512(line), first);
        within |= (uint32_t)_mm512_cmple_epi32_mask(_mm512_load_si512(line + SIDE), second) << SIDE;
        for (; within; within &= within - 1) {
            size_t lane = (size_t)__builtin_ctz(within), query = first_query + lane;
            int32_t below = bounds[lane] - line[lane];
            hits[found++] = (struct hamming_hit){(uint32_t)(comparison->limits[query] - below),
                                                 (uint16_t)query, (uint16_t)row};
        }
    }
    return found;
}

static size_t compare(const struct hamming_comparison *comparison, struct hamming_hit *hits) {
    const size_t words = comparison->words;
    const size_t early = abandon_words(words, comparison_limit(comparison));
    int32_t early_bounds[TILE_QUERIES], bounds[TILE_QUERIES];
    find_bounds(comparison, early, early_bounds);
    find_bounds(comparison, words, bounds);
    size_t found = 0;
    struct sums sums __attribute__((aligned(64)));
    configure();
    for (size_t query = 0; query < comparison->query_count; query += BLOCK) {
        const uint8_t *queries = comparison->queries + prefix_bytes(words) + query * words * 64;
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        multiply(comparison->rows, queries, words, 0, early);
        store_sums(&sums);
        if (!any_within(&sums, early_bounds + query))
            continue;
        if (early < words) {
            multiply(comparison->rows, queries, words, early, words);
            store_sums(&sums);
        }
        found += list_hits(&sums, comparison, bounds + query, query, hits + found);
    }
    _tile_release();
    return found;
}

const struct hamming_tile hamming_tile_amx = {
    .name = "amx",
    .panel_rows = BLOCK,
    .worthwhile_queries = 24,
    .queries_bytes = queries_bytes,
    .rows_bytes = rows_bytes,
    .prepare_queries = prepare_queries,
    .prepare_rows = prepare_rows,
    .compare = compare,
};
#endif

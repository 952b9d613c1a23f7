/* The matrix unit (AMX): a bit becomes a byte, +1 or -1 in queries and the other way round in rows,
 * so that the dot product is the number of differing bits minus that of agreeing ones. One
 * instruction sums 64 bits of 16 x 16 pairs. Panels remain bits. Rows are unpacked for every block
 * of queries, queries once per comparison, both a little ahead of the matrix unit, which seldom
 * waits. The working set of a block just fits the first-level cache. */
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hamming/hamming_tile.h"

enum {
    SIDE = 16,         /* rows, and queries, of a tile register */
    TILE_BYTES = 1024, /* 16 lines of 64 bytes */
    BLOCK = 2 * SIDE,  /* 2 x 2 sums are in registers at once */
    AHEAD = 2,         /* words that are unpacked before they are multiplied */
    UNPACKED = 4,      /* words of rows in the first-level cache; more would push out queries */
    ROWS_AHEAD = 4,    /* prefetched with each block: all in time for windows of 200 rows */
    REQUEST_STATE_PERMISSION = 0x1023,
    TILE_STATE = 18,
};

bool hamming_tile_amx_available(void) {
    unsigned a, b, c, d;
    const unsigned tile_and_int8 = 1u << 24 | 1u << 25, gfni = 1u << 8;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & tile_and_int8) != tile_and_int8 ||
        !(c & gfni))
        return false;
    return syscall(SYS_arch_prctl, REQUEST_STATE_PERMISSION, TILE_STATE) == 0;
}

static size_t queries_bytes(size_t words) {
    return TILE_QUERIES * words * 8;
}

static size_t rows_bytes(size_t words) {
    return BLOCK * words * 8;
}

/* A block of queries, unpacked. */
static size_t scratch_bytes(size_t words) {
    return 2 * TILE_BYTES * words;
}

/* ---- Panels ---------------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

/* Eight words of eight rows: [row][word] becomes [word][row]. */
static inline void transpose_words(__m512i x[8]) {
    __m512i y[8];
    for (int i = 0; i < 8; i += 2) {
        y[i] = _mm512_unpacklo_epi64(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 1]);
    }
    for (int i = 0; i < 2; i++) { /* words i, i + 2, i + 4, i + 6 of rows 0 to 3 and 4 to 7 */
        __m512i first = _mm512_shuffle_i64x2(y[i], y[i + 2], 0x88);
        __m512i second = _mm512_shuffle_i64x2(y[i + 4], y[i + 6], 0x88);
        __m512i third = _mm512_shuffle_i64x2(y[i], y[i + 2], 0xdd);
        __m512i fourth = _mm512_shuffle_i64x2(y[i + 4], y[i + 6], 0xdd);
        x[i] = _mm512_shuffle_i64x2(first, second, 0x88);
        x[i + 4] = _mm512_shuffle_i64x2(first, second, 0xdd);
        x[i + 2] = _mm512_shuffle_i64x2(third, fourth, 0x88);
        x[i + 6] = _mm512_shuffle_i64x2(third, fourth, 0xdd);
    }
}

/* Panels are [16 rows][word][row]; blocks are filled up with zeros. */
static void prepare(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                    uint8_t *panel) {
    for (size_t query = 0; query < (count + BLOCK - 1) / BLOCK * BLOCK; query += 8) {
        uint64_t *side = (uint64_t *)(void *)panel + query / SIDE * SIDE * words + query % SIDE;
        for (size_t word = 0; word < words; word += 8) {
            const size_t present = words - word < 8 ? words - word : 8;
            const __mmask8 mask = (__mmask8)((1u << present) - 1);
            __m512i x[8];
            for (size_t i = 0; i < 8; i++) {
                const uint8_t *from = rows + (query + i) * stride_bytes + word * 8;
                x[i] = query + i < count ? _mm512_maskz_loadu_epi64(mask, from)
                                         : _mm512_setzero_si512();
            }
            transpose_words(x);
            for (size_t w = 0; w < present; w++)
                _mm512_store_si512(side + (word + w) * SIDE, x[w]);
        }
    }
}

/* Of each byte that it is applied to, bit `bit` goes to all bits of the result but the last, which
 * is left to the constant: so the result is 1 or -1. */
static const uint64_t SPREAD_BIT = 0x0001010101010101;
enum { ONES_FOR_CLEAR = 0x01, ONES_FOR_SET = 0xff };

/* A line of 64 bytes for each row: bits 0 of all bytes of the word, then bits 1... */
INLINE void unpack_rows(const uint64_t *rows, uint8_t *tile) {
    const __m512i spread = _mm512_sllv_epi64(_mm512_set1_epi64((long long)SPREAD_BIT),
                                             _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    for (size_t i = 0; i < SIDE; i++) {
        __m512i word = _mm512_set1_epi64((long long)rows[i]);
        _mm512_store_si512(tile + i * 64,
                           _mm512_gf2p8affine_epi64_epi8(word, spread, ONES_FOR_CLEAR));
    }
}

/* The second factor: line l of a tile holds bytes 4l to 4l + 3 of each query. */
INLINE void unpack_queries(const uint64_t *queries, uint8_t *tile) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512i first = _mm512_load_si512(queries), second = _mm512_load_si512(queries + 8);
    const __m512i low = _mm512_permutex2var_epi32(first, even, second);
    const __m512i high = _mm512_permutex2var_epi32(first, odd, second);
    for (size_t bit = 0; bit < 8; bit++) {
        const uint64_t spread_bit = SPREAD_BIT << bit;
        const __m512i spread = _mm512_set1_epi64((long long)spread_bit);
        _mm512_store_si512(tile + bit * 128,
                           _mm512_gf2p8affine_epi64_epi8(low, spread, ONES_FOR_SET));
        _mm512_store_si512(tile + bit * 128 + 64,
                           _mm512_gf2p8affine_epi64_epi8(high, spread, ONES_FOR_SET));
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Tiles of a block: bit 0 is the first rows with the first queries, then the first with the
 * second... */
enum {
    FIRST_ROWS = 1 | 2,
    SECOND_ROWS = 4 | 8,
    FIRST_QUERIES = 1 | 4,
    SECOND_QUERIES = 2 | 8,
    ALL_TILES = 15
};

/* What is compared at once. */
struct block {
    size_t first_row, first_query;
    unsigned tiles;       /* that are wanted; none: there is no block */
    bool unpacks_queries; /* the first block of its queries */
};

struct sums {
    int32_t of[BLOCK][BLOCK]; /* [row][query]; of tiles that are not wanted, 0 */
};

struct comparer {
    uint8_t rows[UNPACKED][2][TILE_BYTES]; /* words of a block, not multiplied yet */
    struct sums sums;
    const struct hamming_comparison *comparison;
    size_t words, early_words, ahead, step;
    struct block waiting;
    int32_t early_bounds[TILE_QUERIES], bounds[TILE_QUERIES]; /* the greatest sums within limits */
    struct hamming_hit *hits;
    size_t found;
} __attribute__((aligned(64)));

/* The tile instructions are opaque to the compiler: what they load must be stored before. */
INLINE void order_memory(void) {
    __asm__ volatile("" ::: "memory");
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

INLINE const uint64_t *block_rows(const struct comparer *comparer, const struct block *block,
                                  size_t half) {
    const uint64_t *rows = (const uint64_t *)(const void *)comparer->comparison->rows;
    return rows + (block->first_row + half * SIDE) * comparer->words;
}

INLINE const uint64_t *block_queries(const struct comparer *comparer, const struct block *block,
                                     size_t half) {
    const uint64_t *queries = (const uint64_t *)(const void *)comparer->comparison->queries;
    return queries + (block->first_query + half * SIDE) * comparer->words;
}

/* The next word of a block to be unpacked. */
struct unpacking {
    const uint64_t *rows, *queries; /* of the first half; the second lies half_words behind */
    size_t half_words;
    uint8_t *query_tiles;
    unsigned tiles;
    bool has_queries;
};

INLINE struct unpacking begin_unpacking(const struct comparer *comparer, const struct block *block,
                                        size_t word) {
    return (struct unpacking){
        .rows = block_rows(comparer, block, 0) + word * SIDE,
        .queries = block_queries(comparer, block, 0) + word * SIDE,
        .half_words = SIDE * comparer->words,
        .query_tiles = comparer->comparison->scratch + 2 * word * TILE_BYTES,
        .tiles = block->tiles,
        .has_queries = block->unpacks_queries,
    };
}

INLINE void unpack_half(const struct unpacking *from, size_t half, uint8_t *row_tile) {
    if (from->tiles & (half ? SECOND_ROWS : FIRST_ROWS))
        unpack_rows(from->rows + half * from->half_words, row_tile);
    if (from->has_queries)
        unpack_queries(from->queries + half * from->half_words,
                       from->query_tiles + half * TILE_BYTES);
}

INLINE void advance_unpacking(struct unpacking *from) {
    from->rows += SIDE;
    from->queries += SIDE;
    from->query_tiles += 2 * TILE_BYTES;
}

/* Registers 0 to 3 += rows (4, 5) x queries (6, 7) of words [begin, end), as far as the tiles are
 * wanted. Meanwhile as many words to come are unpacked. */
INLINE void multiply_words(struct comparer *comparer, size_t begin, size_t end, unsigned tiles,
                           struct unpacking to_come) {
    const uint8_t *queries = comparer->comparison->scratch + 2 * begin * TILE_BYTES;
    size_t step = comparer->step;
    const size_t ahead = comparer->ahead;
    for (size_t word = begin; word < end; word++, step++, queries += 2 * TILE_BYTES) {
        const uint8_t(*rows)[TILE_BYTES] = comparer->rows[step % UNPACKED];
        uint8_t(*later_rows)[TILE_BYTES] = comparer->rows[(step + ahead) % UNPACKED];
        order_memory();
        if (tiles & FIRST_ROWS)
            _tile_loadd(4, rows[0], 64);
        if (tiles & FIRST_QUERIES)
            _tile_loadd(6, queries, 64);
        if (tiles & SECOND_QUERIES)
            _tile_loadd(7, queries + TILE_BYTES, 64);
        if (tiles & SECOND_ROWS)
            _tile_loadd(5, rows[1], 64);
        if (tiles & 1)
            _tile_dpbssd(0, 4, 6);
        if (tiles & 2)
            _tile_dpbssd(1, 4, 7);
        order_memory();
        unpack_half(&to_come, 0, later_rows[0]);
        if (tiles & 4)
            _tile_dpbssd(2, 5, 6);
        if (tiles & 8)
            _tile_dpbssd(3, 5, 7);
        unpack_half(&to_come, 1, later_rows[1]);
        advance_unpacking(&to_come);
    }
    comparer->step = step;
}

/* The first words of a block, up to where it may be given up. At the end, those of the next block
 * are unpacked. */
INLINE void multiply(struct comparer *comparer, const struct block *block, const struct block *next,
                     unsigned tiles) {
    const size_t ahead = comparer->ahead, end = comparer->early_words;
    multiply_words(comparer, 0, end - ahead, tiles, begin_unpacking(comparer, block, ahead));
    multiply_words(comparer, end - ahead, end, tiles, begin_unpacking(comparer, next, 0));
}

INLINE void store_sums(struct sums *sums) {
    _tile_stored(0, &sums->of[0][0], sizeof sums->of[0]);
    _tile_stored(1, &sums->of[0][SIDE], sizeof sums->of[0]);
    _tile_stored(2, &sums->of[SIDE][0], sizeof sums->of[0]);
    _tile_stored(3, &sums->of[SIDE][SIDE], sizeof sums->of[0]);
    order_memory();
}

INLINE void load_sums(const struct sums *sums) {
    order_memory();
    _tile_loadd(0, &sums->of[0][0], sizeof sums->of[0]);
    _tile_loadd(1, &sums->of[0][SIDE], sizeof sums->of[0]);
    _tile_loadd(2, &sums->of[SIDE][0], sizeof sums->of[0]);
    _tile_loadd(3, &sums->of[SIDE][SIDE], sizeof sums->of[0]);
}

/* The words that were left out of a block's sums. */
static void add_late_words(const struct comparer *comparer, const struct block *block,
                           struct sums *sums) {
    uint8_t tiles[4][TILE_BYTES] __attribute__((aligned(64)));
    load_sums(sums);
    for (size_t word = comparer->early_words; word < comparer->words; word++) {
        for (size_t half = 0; half < 2; half++) {
            unpack_rows(block_rows(comparer, block, half) + word * SIDE, tiles[half]);
            unpack_queries(block_queries(comparer, block, half) + word * SIDE, tiles[2 + half]);
        }
        order_memory();
        _tile_loadd(4, tiles[0], 64);
        _tile_loadd(5, tiles[1], 64);
        _tile_loadd(6, tiles[2], 64);
        _tile_loadd(7, tiles[3], 64);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    store_sums(sums);
}

/* ---- Looking at sums ------------------------------------------------------------------------- */

/* Bit q is set when query q is within its bound in this row of sums. */
INLINE uint32_t queries_within(const int32_t *line, const int32_t *bounds) {
    uint32_t first = _mm512_cmple_epi32_mask(_mm512_load_si512(line), _mm512_loadu_si512(bounds));
    uint32_t second =
        _mm512_cmple_epi32_mask(_mm512_load_si512(line + SIDE), _mm512_loadu_si512(bounds + SIDE));
    return first | second << SIDE;
}

INLINE bool any_within(const struct sums *sums, const int32_t *bounds) {
    bool within = false;
    for (size_t q = 0; q < BLOCK; q += SIDE) {
        __m512i least = _mm512_load_si512(&sums->of[0][q]);
        for (size_t row = 1; row < BLOCK; row++)
            least = _mm512_min_epi32(least, _mm512_load_si512(&sums->of[row][q]));
        within |= _mm512_cmple_epi32_mask(least, _mm512_loadu_si512(bounds + q)) != 0;
    }
    return within;
}

/* The rows that each query of a block wants. */
struct wanted {
    __m512i begins[2], ends[2];
};

INLINE struct wanted wanted_rows(const struct comparer *comparer, const struct block *block) {
    const struct hamming_comparison *comparison = comparer->comparison;
    struct wanted wanted;
    for (size_t half = 0; half < 2; half++) {
        size_t first = block->first_query + half * SIDE;
        size_t left = comparison->query_count > first ? comparison->query_count - first : 0;
        __mmask16 present = (__mmask16)(left < SIDE ? (1u << left) - 1 : 0xffff);
        __m512i all = _mm512_set1_epi32((int)comparison->row_count);
        wanted.begins[half] = _mm512_setzero_si512();
        wanted.ends[half] = _mm512_maskz_mov_epi32(present, all);
        if (comparison->begins) {
            wanted.begins[half] = _mm512_maskz_loadu_epi32(present, comparison->begins + first);
            wanted.ends[half] =
                _mm512_min_epu32(all, _mm512_maskz_loadu_epi32(present, comparison->ends + first));
        }
    }
    return wanted;
}

/* Bit q is set when query q wants the row. */
INLINE uint32_t queries_wanting(const struct wanted *wanted, size_t row) {
    const __m512i here = _mm512_set1_epi32((int)row);
    uint32_t queries[2];
    for (int half = 0; half < 2; half++)
        queries[half] = _mm512_cmple_epu32_mask(wanted->begins[half], here) &
                        _mm512_cmpgt_epu32_mask(wanted->ends[half], here);
    return queries[0] | queries[1] << SIDE;
}

/* As any_within if some tiles of the block are not wanted: their sums of early words are 0 and mean
 * nothing. Rows compared with themselves would otherwise have every such block listed. */
INLINE bool any_wanted_within(const struct comparer *comparer, const struct block *block,
                              const struct sums *sums, const int32_t *bounds) {
    const struct wanted wanted = wanted_rows(comparer, block);
    uint32_t within = 0;
    for (size_t row = 0; row < BLOCK; row++)
        within |= queries_within(sums->of[row], bounds) &
                  queries_wanting(&wanted, block->first_row + row);
    return within != 0;
}

static void list_hits(struct comparer *comparer, const struct block *block,
                      const struct sums *sums) {
    const struct wanted wanted = wanted_rows(comparer, block);
    const int32_t bits = (int32_t)comparer->words * 64;
    for (size_t i = 0; i < BLOCK; i++) {
        const int32_t *line = sums->of[i];
        size_t row = block->first_row + i;
        uint32_t within = queries_within(line, comparer->bounds + block->first_query) &
                          queries_wanting(&wanted, row);
        for (; within; within &= within - 1) {
            size_t lane = (size_t)__builtin_ctz(within);
            comparer->hits[comparer->found++] =
                (struct hamming_hit){(uint32_t)((line[lane] + bits) / 2),
                                     (uint16_t)(block->first_query + lane), (uint16_t)row};
        }
    }
}

INLINE void look_at(struct comparer *comparer, const struct block *block, struct sums *sums) {
    const int32_t *bounds = comparer->early_bounds + block->first_query;
    if (block->tiles == ALL_TILES ? !any_within(sums, bounds)
                                  : !any_wanted_within(comparer, block, sums, bounds))
        return;
    if (comparer->early_words < comparer->words)
        add_late_words(comparer, block, sums);
    list_hits(comparer, block, sums);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* Multiplies the block that waits and looks at the one before; `next` waits from then on. */
static void push_block(struct comparer *comparer, struct block next) {
    const struct block block = comparer->waiting;
    comparer->waiting = next;
    if (!block.tiles) {
        struct unpacking first = begin_unpacking(comparer, &next, 0);
        for (size_t word = 0; word < comparer->ahead; word++, advance_unpacking(&first))
            for (size_t half = 0; half < 2; half++)
                unpack_half(&first, half, comparer->rows[word][half]);
        return;
    }
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (block.tiles == ALL_TILES)
        multiply(comparer, &block, &next, ALL_TILES);
    else
        multiply(comparer, &block, &next, block.tiles);
    comparison_look_ahead(comparer->comparison, ROWS_AHEAD);
    store_sums(&comparer->sums);
    look_at(comparer, &block, &comparer->sums);
}

/* At the edges of a band some of the four tiles are not wanted. */
static unsigned wanted_tiles(const struct hamming_comparison *comparison, size_t first_row,
                             size_t first_query) {
    const size_t row_end = first_row + BLOCK, query_end = first_query + BLOCK;
    unsigned tiles = 0;
    if (row_end <= comparison->row_count && query_end <= comparison->query_count &&
        (!comparison->begins || (comparison->begins[query_end - 1] <= first_row &&
                                 comparison->ends[first_query] >= row_end)))
        return ALL_TILES;
    for (size_t i = 0; i < 4; i++) {
        size_t row = first_row + i / 2 * SIDE, query = first_query + i % 2 * SIDE;
        if (row < comparison->row_count && query < comparison->query_count &&
            comparison_wants(comparison, query, query + SIDE - 1, row, row + SIDE))
            tiles |= 1u << i;
    }
    return tiles;
}

static void compare_queries(struct comparer *comparer, size_t first_query) {
    const struct hamming_comparison *comparison = comparer->comparison;
    const size_t left = comparison->query_count - first_query;
    const size_t end =
        comparison_row_end(comparison, first_query + (left < BLOCK ? left : BLOCK) - 1);
    struct block block = {.first_query = first_query, .unpacks_queries = true};
    block.first_row = comparison_row_begin(comparison, first_query) / BLOCK * BLOCK;
    for (; block.first_row < end; block.first_row += BLOCK) {
        block.tiles = wanted_tiles(comparison, block.first_row, first_query);
        if (!block.tiles)
            continue;
        push_block(comparer, block);
        block.unpacks_queries = false;
    }
}

/* The greatest sum that keeps each query within its limit after `words`; none for missing queries.
 */
static void find_bounds(const struct hamming_comparison *comparison, size_t words,
                        int32_t bounds[TILE_QUERIES]) {
    size_t end = (comparison->query_count + BLOCK - 1) / BLOCK * BLOCK;
    for (size_t q = 0; q < end; q++)
        bounds[q] = q < comparison->query_count ? 2 * comparison->limits[q] - (int32_t)words * 64
                                                : INT32_MIN;
}

static size_t compare(const struct hamming_comparison *comparison, struct hamming_hit *hits) {
    struct comparer comparer;
    comparer.comparison = comparison;
    comparer.words = comparison->words;
    comparer.early_words = abandon_words(comparison->words, comparison_limit(comparison));
    comparer.ahead = comparer.early_words < AHEAD ? comparer.early_words : AHEAD;
    comparer.waiting = (struct block){0};
    comparer.hits = hits;
    comparer.step = comparer.found = 0;
    find_bounds(comparison, comparer.early_words, comparer.early_bounds);
    find_bounds(comparison, comparer.words, comparer.bounds);
    configure();
    for (size_t query = 0; query < comparison->query_count; query += BLOCK)
        compare_queries(&comparer, query);
    push_block(&comparer, (struct block){0});
    _tile_release();
    return comparer.found;
}

const struct hamming_tile hamming_tile_amx = {
    .name = "amx",
    .panel_rows = BLOCK,
    .worthwhile_queries = 24,
    .band_queries = TILE_QUERIES,
    .least_queries_per_row = 40,
    .queries_bytes = queries_bytes,
    .rows_bytes = rows_bytes,
    .scratch_bytes = scratch_bytes,
    .prepare_queries = prepare,
    .prepare_rows = prepare,
    .compare = compare,
};
#endif

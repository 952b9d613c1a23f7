/* The matrix unit (AMX): a bit becomes a byte, +1 or -1 in queries and the other way round in rows,
 * so that the dot product is the number of differing bits minus that of agreeing ones. One
 * instruction sums 64 bits of 16 x 16 pairs. */
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
    AHEAD = 2,         /* words that rows are unpacked before they are multiplied */
    UNPACKED = 4,      /* words of them in the first-level cache; more would push out queries */
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

static size_t queries_bytes(size_t words) {
    return TILE_QUERIES * words * 64;
}

static size_t rows_bytes(size_t words) {
    return BLOCK * words * 8;
}

/* ---- Panels ---------------------------------------------------------------------------------- */

typedef uint64_t word_masks[SIDE];

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

/* The words of 16 rows, missing ones zero: [word][row]. */
static void collect_words(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                          word_masks *collected) {
    for (size_t first = 0; first < words; first += 8) {
        const size_t present = words - first < 8 ? words - first : 8;
        const __mmask8 mask = (__mmask8)((1u << present) - 1);
        for (size_t half = 0; half < SIDE; half += 8) {
            __m512i x[8];
            for (size_t i = 0; i < 8; i++)
                x[i] = half + i < count ? _mm512_maskz_loadu_epi64(
                                              mask, rows + (half + i) * stride_bytes + first * 8)
                                        : _mm512_setzero_si512();
            transpose_words(x);
            for (size_t w = 0; w < present; w++)
                _mm512_storeu_si512(collected[first + w] + half, x[w]);
        }
    }
}

/* The same word of 16 queries becomes 16 masks: mask k has nibble k of each query. Bytes are
 * brought together first, then the inner two nibbles of each pair of bytes change places. */
static void transpose_nibbles(word_masks *collected, size_t words) {
    uint8_t by_byte[64], by_nibble[64];
    for (int i = 0; i < 64; i++) {
        by_byte[i] = (uint8_t)(i % SIDE * 8 + i / SIDE); /* byte i / 16 of query i % 16 */
        by_nibble[i] = (uint8_t)(i / SIDE * SIDE + i % SIDE / 8 + i % 8 * 2);
    }
    const __m512i bytes = _mm512_loadu_si512(by_byte), nibbles = _mm512_loadu_si512(by_nibble);
    for (size_t w = 0; w < words; w++) {
        const __m512i first = _mm512_loadu_si512(collected[w]);
        const __m512i second = _mm512_loadu_si512(collected[w] + 8);
        for (int half = 0; half < 2; half++) {
            __m512i from = _mm512_add_epi8(bytes, _mm512_set1_epi8((char)(4 * half)));
            __m512i x = _mm512_permutex2var_epi8(first, from, second);
            __m512i outer = _mm512_and_si512(x, _mm512_set1_epi16((short)0xf00f));
            __m512i down = _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi16(0x00f0));
            __m512i up = _mm512_and_si512(_mm512_slli_epi16(x, 4), _mm512_set1_epi16(0x0f00));
            x = _mm512_or_si512(outer, _mm512_or_si512(down, up));
            _mm512_storeu_si512(collected[w] + 8 * half, _mm512_permutexvar_epi8(nibbles, x));
        }
    }
}

#define INLINE static inline __attribute__((always_inline))

/* A line of 64 bytes for each mask. */
INLINE void write_tile(const word_masks masks, int8_t if_set, uint8_t *tile) {
    __m512i set = _mm512_set1_epi8(if_set), clear = _mm512_set1_epi8((char)-if_set);
    /* Else the compiler broadcasts anew under each mask, which takes the port that loads masks. */
    __asm__("" : "+v"(set), "+v"(clear));
    for (size_t i = 0; i < SIDE; i++)
        _mm512_store_si512(tile + i * 64, _mm512_mask_blend_epi8(masks[i], clear, set));
}

INLINE void write_next(struct hamming_writer *writer) {
    const word_masks *masks = (const word_masks *)(const void *)writer->masks;
    write_tile(masks[writer->written], 1, writer->panel + writer->written * TILE_BYTES);
    writer->written++;
}

static void finish(struct hamming_writer *writer) {
    while (writer->written < writer->tiles)
        write_next(writer);
}

/* Tiles [16 queries][word]: the second factor, in which line l of a tile holds bytes 4l to 4l+3 of
 * each. */
static void begin_queries(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                          struct hamming_writer *writer) {
    word_masks *masks = (word_masks *)(void *)writer->masks;
    writer->written = writer->tiles = 0;
    for (size_t i = 0; i < count; i += SIDE, masks += words) {
        collect_words(rows + i * stride_bytes, stride_bytes, words,
                      count - i < SIDE ? count - i : SIDE, masks);
        transpose_nibbles(masks, words);
        writer->tiles += words;
    }
}

static void prepare_queries(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                            uint8_t *panel) {
    uint64_t masks[HAMMING_MAX_BITS / 64 * SIDE];
    for (size_t i = 0; i < count; i += SIDE) {
        struct hamming_writer writer = {.masks = masks, .panel = panel + i * words * 64};
        begin_queries(rows + i * stride_bytes, stride_bytes, words,
                      count - i < SIDE ? count - i : SIDE, &writer);
        finish(&writer);
    }
}

/* Rows stay bits, [16 rows][word], and are unpacked again for every block of queries that they
 * meet: that is done while the matrix unit works, and goes no farther than the first-level cache.
 */
static void prepare_rows(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         uint8_t *panel) {
    word_masks *masks = (word_masks *)(void *)panel;
    for (size_t i = 0; i < BLOCK; i += SIDE, masks += words) {
        size_t left = count > i ? count - i : 0;
        collect_words(rows + i * stride_bytes, stride_bytes, words, left < SIDE ? left : SIDE,
                      masks);
    }
}

/* ---- Comparing ------------------------------------------------------------------------------- */

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

/* What is compared at once. */
struct block {
    const struct hamming_comparison *comparison;
    size_t first_row, first_query;
    const int32_t *early_bounds, *bounds; /* of all queries: the greatest sums within the limits */
    size_t early_words;
};

struct sums {
    int32_t of[BLOCK][BLOCK]; /* [row][query] */
};

/* A step of the matrix unit takes so long that writing a tile costs little. */
INLINE void write_meanwhile(struct hamming_writer *writer) {
    if (writer && writer->written < writer->tiles)
        write_next(writer);
}

/* Tiles of a block: bit 0 is the first rows with the first queries, then the first with the
 * second... */
enum {
    FIRST_ROWS = 1 | 2,
    SECOND_ROWS = 4 | 8,
    FIRST_QUERIES = 1 | 4,
    SECOND_QUERIES = 2 | 8,
    ALL_TILES = 15
};

/* The words of two tiles of rows as the first factor, a line for each row. */
struct unpacked {
    uint8_t tiles[UNPACKED][2][TILE_BYTES];
};

INLINE void unpack(const word_masks *rows, size_t words, size_t word, size_t half,
                   struct unpacked *unpacked) {
    write_tile(rows[half * words + word], -1, unpacked->tiles[word % UNPACKED][half]);
}

/* Queries that pass by are not to stay in the first-level cache. */
#define LOAD_QUERIES(tile, lines)                                                                  \
    do {                                                                                           \
        if (queries_pass)                                                                          \
            _tile_stream_loadd(tile, lines, 64);                                                   \
        else                                                                                       \
            _tile_loadd(tile, lines, 64);                                                          \
    } while (0)

/* Registers 0 to 3 += rows (4, 5) x queries (6, 7), as far as the tiles are wanted. */
INLINE void multiply(const struct block *block, size_t begin, size_t end, bool queries_pass,
                     unsigned tiles) {
    const struct hamming_comparison *comparison = block->comparison;
    const size_t words = comparison->words, other = words * TILE_BYTES;
    const word_masks *rows =
        (const word_masks *)(const void *)(comparison->rows + block->first_row * words * 8);
    const uint8_t *queries = comparison->queries + block->first_query * words * 64;
    struct unpacked unpacked __attribute__((aligned(64)));
    for (size_t word = begin; word < begin + AHEAD && word < end; word++) {
        unpack(rows, words, word, 0, &unpacked);
        unpack(rows, words, word, 1, &unpacked);
    }
    for (size_t word = begin; word < end; word++) {
        const uint8_t(*unpacked_rows)[TILE_BYTES] = unpacked.tiles[word % UNPACKED];
        if (tiles & FIRST_ROWS)
            _tile_loadd(4, unpacked_rows[0], 64);
        if (tiles & FIRST_QUERIES)
            LOAD_QUERIES(6, queries + word * TILE_BYTES);
        if (tiles & 1)
            _tile_dpbssd(0, 4, 6);
        if (word + AHEAD < end && tiles & FIRST_ROWS)
            unpack(rows, words, word + AHEAD, 0, &unpacked);
        if (tiles & SECOND_QUERIES)
            LOAD_QUERIES(7, queries + other + word * TILE_BYTES);
        if (tiles & 2)
            _tile_dpbssd(1, 4, 7);
        if (tiles & SECOND_ROWS)
            _tile_loadd(5, unpacked_rows[1], 64);
        if (tiles & 4)
            _tile_dpbssd(2, 5, 6);
        if (word + AHEAD < end && tiles & SECOND_ROWS)
            unpack(rows, words, word + AHEAD, 1, &unpacked);
        if (tiles & 8)
            _tile_dpbssd(3, 5, 7);
        write_meanwhile(comparison->writer);
    }
}

INLINE void store_sums(struct sums *sums) {
    _tile_stored(0, &sums->of[0][0], sizeof sums->of[0]);
    _tile_stored(1, &sums->of[0][SIDE], sizeof sums->of[0]);
    _tile_stored(2, &sums->of[SIDE][0], sizeof sums->of[0]);
    _tile_stored(3, &sums->of[SIDE][SIDE], sizeof sums->of[0]);
}

/* Bit q is set when query q is within its bound in this row of sums. */
INLINE uint32_t queries_within(const int32_t *line, const int32_t *bounds) {
    uint32_t first = _mm512_cmple_epi32_mask(_mm512_load_si512(line), _mm512_loadu_si512(bounds));
    uint32_t second =
        _mm512_cmple_epi32_mask(_mm512_load_si512(line + SIDE), _mm512_loadu_si512(bounds + SIDE));
    return first | second << SIDE;
}

INLINE bool any_within(const struct sums *sums, const int32_t *bounds) {
    bool within = false;
    for (int q = 0; q < BLOCK; q += SIDE) {
        __m512i least = _mm512_load_si512(&sums->of[0][q]);
        for (int row = 1; row < BLOCK; row++)
            least = _mm512_min_epi32(least, _mm512_load_si512(&sums->of[row][q]));
        within |= _mm512_cmple_epi32_mask(least, _mm512_loadu_si512(bounds + q)) != 0;
    }
    return within;
}

/* The rows that each query of a block wants. */
struct wanted {
    __m512i begins[2], ends[2];
};

INLINE struct wanted wanted_rows(const struct block *block) {
    const struct hamming_comparison *comparison = block->comparison;
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

/* The same where some tiles of the block are not wanted, whose sums mean nothing. A row that meets
 * itself there would have every such block listed. */
INLINE bool any_wanted_within(const struct block *block, const struct sums *sums,
                              const int32_t *bounds) {
    const struct wanted wanted = wanted_rows(block);
    uint32_t within = 0;
    for (size_t row = 0; row < BLOCK; row++)
        within |= queries_within(sums->of[row], bounds) &
                  queries_wanting(&wanted, block->first_row + row);
    return within != 0;
}

static size_t list_hits(const struct block *block, const struct sums *sums,
                        struct hamming_hit *hits) {
    const struct wanted wanted = wanted_rows(block);
    const int32_t bits = (int32_t)block->comparison->words * 64;
    size_t found = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        const int32_t *line = sums->of[i];
        size_t row = block->first_row + i;
        uint32_t within = queries_within(line, block->bounds + block->first_query) &
                          queries_wanting(&wanted, row);
        for (; within; within &= within - 1) {
            size_t lane = (size_t)__builtin_ctz(within);
            hits[found++] =
                (struct hamming_hit){(uint32_t)((line[lane] + bits) / 2),
                                     (uint16_t)(block->first_query + lane), (uint16_t)row};
        }
    }
    return found;
}

/* Sums of tiles that are not wanted are zero. */
INLINE size_t compare_tiles(const struct block *block, bool queries_pass, unsigned tiles,
                            struct hamming_hit *hits) {
    struct sums sums __attribute__((aligned(64)));
    const size_t words = block->comparison->words, early = block->early_words;
    const int32_t *early_bounds = block->early_bounds + block->first_query;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    multiply(block, 0, early, queries_pass, tiles);
    store_sums(&sums);
    if (tiles == ALL_TILES ? !any_within(&sums, early_bounds)
                           : !any_wanted_within(block, &sums, early_bounds))
        return 0;
    if (early < words) {
        multiply(block, early, words, queries_pass, tiles);
        store_sums(&sums);
    }
    return list_hits(block, &sums, hits);
}

/* At the edges of a band some of the four tiles are not wanted. */
static unsigned wanted_tiles(const struct block *block) {
    const struct hamming_comparison *comparison = block->comparison;
    const size_t row_end = block->first_row + BLOCK, query_end = block->first_query + BLOCK;
    unsigned tiles = 0;
    if (row_end <= comparison->row_count && query_end <= comparison->query_count &&
        (!comparison->begins || (comparison->begins[query_end - 1] <= block->first_row &&
                                 comparison->ends[block->first_query] >= row_end)))
        return ALL_TILES;
    for (size_t i = 0; i < 4; i++) {
        size_t row = block->first_row + i / 2 * SIDE, query = block->first_query + i % 2 * SIDE;
        if (row < comparison->row_count && query < comparison->query_count &&
            comparison_wants(comparison, query, query + SIDE - 1, row, row + SIDE))
            tiles |= 1u << i;
    }
    return tiles;
}

static size_t compare_block(const struct block *block, struct hamming_hit *hits) {
    unsigned tiles = wanted_tiles(block);
    if (tiles != ALL_TILES)
        return tiles ? compare_tiles(block, false, tiles, hits) : 0;
    return block->comparison->query_count > BLOCK ? compare_tiles(block, true, ALL_TILES, hits)
                                                  : compare_tiles(block, false, ALL_TILES, hits);
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
    const size_t words = comparison->words;
    const size_t early = abandon_words(words, comparison_limit(comparison));
    int32_t early_bounds[TILE_QUERIES], bounds[TILE_QUERIES];
    find_bounds(comparison, early, early_bounds);
    find_bounds(comparison, words, bounds);
    struct block block = {.comparison = comparison,
                          .early_bounds = early_bounds,
                          .bounds = bounds,
                          .early_words = early};
    size_t found = 0;
    configure();
    for (block.first_row = 0; block.first_row < comparison->row_count; block.first_row += BLOCK)
        for (block.first_query = 0; block.first_query < comparison->query_count;
             block.first_query += BLOCK)
            found += compare_block(&block, hits + found);
    _tile_release();
    return found;
}

const struct hamming_tile hamming_tile_amx = {
    .name = "amx",
    .panel_rows = BLOCK,
    .worthwhile_queries = 24,
    .least_queries_a_row = 80,
    .queries_bytes = queries_bytes,
    .rows_bytes = rows_bytes,
    .prepare_queries = prepare_queries,
    .prepare_rows = prepare_rows,
    .begin_queries = begin_queries,
    .finish = finish,
    .compare = compare,
};
#endif

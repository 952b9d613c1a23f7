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
    return BLOCK * words * 64;
}

/* ---- Panels ---------------------------------------------------------------------------------- */

typedef uint64_t word_masks[SIDE];

/* The words of 16 queries, missing ones zero: [word][query]. */
static void collect_words(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                          word_masks *collected) {
    if (count < SIDE)
        memset(collected, 0, words * sizeof *collected);
    for (size_t i = 0; i < count; i++)
        for (size_t w = 0; w < words; w++)
            memcpy(&collected[w][i], rows + i * stride_bytes + w * 8, 8);
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
INLINE void write_lines(struct hamming_writer *writer, size_t count) {
    const __m512i set = _mm512_set1_epi8(writer->if_set),
                  clear = _mm512_set1_epi8((char)-writer->if_set);
    const uint64_t *masks = writer->masks + writer->line;
    uint8_t *lines = writer->panel + writer->line * 64;
    for (size_t i = 0; i < count; i++)
        _mm512_store_si512(lines + i * 64, _mm512_mask_blend_epi8(masks[i], clear, set));
    writer->line += count;
}

static void finish(struct hamming_writer *writer) {
    while (writer->line_count - writer->line >= SIDE)
        write_lines(writer, SIDE);
    if (writer->line < writer->line_count)
        write_lines(writer, writer->line_count - writer->line);
}

/* Tiles [16 queries][word]: the second factor, in which line l of a tile holds bytes 4l to 4l+3 of
 * each. */
static void begin_queries(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                          struct hamming_writer *writer) {
    word_masks *masks = (word_masks *)(void *)writer->masks;
    writer->if_set = 1;
    writer->line = writer->line_count = 0;
    for (size_t i = 0; i < count; i += SIDE, masks += words) {
        collect_words(rows + i * stride_bytes, stride_bytes, words,
                      count - i < SIDE ? count - i : SIDE, masks);
        transpose_nibbles(masks, words);
        writer->line_count += words * SIDE;
    }
}

/* Tiles [16 rows][word]: the first factor, a line for each row. */
static void begin_rows(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                       struct hamming_writer *writer) {
    word_masks *masks = (word_masks *)(void *)writer->masks;
    writer->if_set = -1;
    writer->line = writer->line_count = 0;
    for (size_t i = 0; i < count; i += SIDE, masks += words) {
        collect_words(rows + i * stride_bytes, stride_bytes, words,
                      count - i < SIDE ? count - i : SIDE, masks);
        writer->line_count += words * SIDE;
    }
}

typedef void begin_panel(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         struct hamming_writer *writer);

INLINE void prepare(begin_panel *begin, const uint8_t *rows, size_t stride_bytes, size_t words,
                    size_t count, uint8_t *panel) {
    uint64_t masks[HAMMING_MAX_BITS / 64 * SIDE];
    for (size_t i = 0; i < count; i += SIDE) {
        struct hamming_writer writer = {.masks = masks, .panel = panel + i * words * 64};
        begin(rows + i * stride_bytes, stride_bytes, words, count - i < SIDE ? count - i : SIDE,
              &writer);
        finish(&writer);
    }
}

static void prepare_queries(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                            uint8_t *panel) {
    prepare(begin_queries, rows, stride_bytes, words, count, panel);
}

static void prepare_rows(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         uint8_t *panel) {
    prepare(begin_rows, rows, stride_bytes, words, count, panel);
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

/* A step of the matrix unit takes so long that writing some lines costs nothing. */
INLINE void write_meanwhile(struct hamming_writer *writers) {
    enum { LINES = 8 };
    struct hamming_writer *writer = writers;
    if (writer->line == writer->line_count)
        writer++;
    if (writer->line_count - writer->line >= LINES)
        write_lines(writer, LINES);
}

/* Registers 0 to 3 += rows (4, 5) x queries (6, 7). */
INLINE void multiply_four(const uint8_t *rows, const uint8_t *queries, size_t words, size_t begin,
                          size_t end, struct hamming_writer *writers) {
    const size_t other = words * TILE_BYTES;
    for (size_t at = begin * TILE_BYTES; at < end * TILE_BYTES; at += TILE_BYTES) {
        _tile_loadd(4, rows + at, 64);
        _tile_loadd(6, queries + at, 64);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(7, queries + other + at, 64);
        _tile_dpbssd(1, 4, 7);
        _tile_loadd(5, rows + other + at, 64);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
        if (writers)
            write_meanwhile(writers);
    }
}

/* One tile of rows with one of queries: words take turns among the four sums, because an
 * instruction waits for the last one with the same sum. */
INLINE void multiply_one(const uint8_t *rows, const uint8_t *queries, size_t begin, size_t end) {
    size_t at = begin * TILE_BYTES;
    for (size_t w = begin; w < end; w++, at += TILE_BYTES) {
        _tile_loadd(4, rows + at, 64);
        _tile_loadd(6, queries + at, 64);
        switch (w % 4) {
        case 0:
            _tile_dpbssd(0, 4, 6);
            break;
        case 1:
            _tile_dpbssd(1, 4, 6);
            break;
        case 2:
            _tile_dpbssd(2, 4, 6);
            break;
        default:
            _tile_dpbssd(3, 4, 6);
        }
    }
}

INLINE void multiply(const struct block *block, size_t begin, size_t end, int tiles) {
    const size_t words = block->comparison->words;
    const uint8_t *rows = block->comparison->rows + block->first_row * words * 64;
    const uint8_t *queries = block->comparison->queries + block->first_query * words * 64;
    if (tiles == 4)
        multiply_four(rows, queries, words, begin, end, block->comparison->writers);
    else
        multiply_one(rows, queries, begin, end);
}

/* tiles == 1: all sums belong to the first quarter. */
INLINE void store_sums(struct sums *sums, int tiles) {
    _tile_stored(0, &sums->of[0][0], sizeof sums->of[0]);
    _tile_stored(1, &sums->of[0][SIDE], sizeof sums->of[0]);
    _tile_stored(2, &sums->of[SIDE][0], sizeof sums->of[0]);
    _tile_stored(3, &sums->of[SIDE][SIDE], sizeof sums->of[0]);
    for (int i = 0; i < SIDE && tiles == 1; i++) {
        __m512i first = _mm512_add_epi32(_mm512_load_si512(&sums->of[i][0]),
                                         _mm512_load_si512(&sums->of[i][SIDE]));
        __m512i second = _mm512_add_epi32(_mm512_load_si512(&sums->of[SIDE + i][0]),
                                          _mm512_load_si512(&sums->of[SIDE + i][SIDE]));
        _mm512_store_si512(&sums->of[i][0], _mm512_add_epi32(first, second));
    }
}

/* Bit q is set when query q is within its bound in this row of sums. */
INLINE uint32_t queries_within(const int32_t *line, const int32_t *bounds, int tiles) {
    uint32_t within = _mm512_cmple_epi32_mask(_mm512_load_si512(line), _mm512_loadu_si512(bounds));
    if (tiles == 4)
        within |= (uint32_t)_mm512_cmple_epi32_mask(_mm512_load_si512(line + SIDE),
                                                    _mm512_loadu_si512(bounds + SIDE))
                  << SIDE;
    return within;
}

INLINE bool any_within(const struct sums *sums, const int32_t *bounds, int tiles) {
    const int side = tiles == 4 ? BLOCK : SIDE;
    bool within = false;
    for (int q = 0; q < side; q += SIDE) {
        __m512i least = _mm512_load_si512(&sums->of[0][q]);
        for (int row = 1; row < side; row++)
            least = _mm512_min_epi32(least, _mm512_load_si512(&sums->of[row][q]));
        within |= _mm512_cmple_epi32_mask(least, _mm512_loadu_si512(bounds + q)) != 0;
    }
    return within;
}

INLINE size_t list_hits(const struct block *block, const struct sums *sums, int tiles,
                        struct hamming_hit *hits) {
    const struct hamming_comparison *comparison = block->comparison;
    const int32_t bits = (int32_t)comparison->words * 64;
    const size_t side = tiles == 4 ? BLOCK : SIDE;
    size_t found = 0, left = comparison->row_count - block->first_row;
    for (size_t i = 0; i < side && i < left; i++) {
        const int32_t *line = sums->of[i];
        uint32_t within = queries_within(line, block->bounds + block->first_query, tiles);
        for (; within; within &= within - 1) {
            size_t lane = (size_t)__builtin_ctz(within);
            size_t query = block->first_query + lane, row = block->first_row + i;
            if (!comparison_wants(comparison, query, query, row, row + 1))
                continue;
            hits[found++] = (struct hamming_hit){(uint32_t)((line[lane] + bits) / 2),
                                                 (uint16_t)query, (uint16_t)row};
        }
    }
    return found;
}

/* 2 x 2 tiles, or one. */
INLINE size_t compare_tiles(const struct block *block, int tiles, struct hamming_hit *hits) {
    struct sums sums __attribute__((aligned(64)));
    const size_t words = block->comparison->words, early = block->early_words;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    multiply(block, 0, early, tiles);
    store_sums(&sums, tiles);
    if (!any_within(&sums, block->early_bounds + block->first_query, tiles))
        return 0;
    if (early < words) {
        multiply(block, early, words, tiles);
        store_sums(&sums, tiles);
    }
    return list_hits(block, &sums, tiles, hits);
}

/* At the edges of a band often only one of the four tiles is wanted. */
static size_t compare_block(struct block block, struct hamming_hit *hits) {
    const struct hamming_comparison *comparison = block.comparison;
    size_t wanted = 0, row = 0, query = 0;
    for (size_t r = block.first_row; r < block.first_row + BLOCK; r += SIDE)
        for (size_t q = block.first_query; q < block.first_query + BLOCK; q += SIDE)
            if (r < comparison->row_count && q < comparison->query_count &&
                comparison_wants(comparison, q, q + SIDE - 1, r, r + SIDE)) {
                wanted++;
                row = r;
                query = q;
            }
    if (wanted > 1)
        return compare_tiles(&block, 4, hits);
    block.first_row = row;
    block.first_query = query;
    return wanted ? compare_tiles(&block, 1, hits) : 0;
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
            found += compare_block(block, hits + found);
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
    .begin_queries = begin_queries,
    .begin_rows = begin_rows,
    .finish = finish,
    .compare = compare,
};
#endif

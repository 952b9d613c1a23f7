/* Tiles: many queries against many rows. Both sides are first prepared into panels, in a layout
 * that suits the instruction set. Comparing a panel of queries with a panel of rows lists the pairs
 * within each query's limit. A pair is dropped as soon as the bits compared so far differ in more
 * places than the limit; this never changes the list. Preparing a row costs about as much as
 * comparing it with a few dozen queries. The caller owns panels and scratch memory. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

/* Maximum panel sizes. */
enum { TILE_QUERIES = 128, TILE_ROWS = 64 };

/* Positions in the panels. */
struct hamming_hit {
    uint32_t distance;
    uint16_t query, row;
};

/* Rows of the next comparison. A long comparison prefetches a few of them at each step. */
struct hamming_ahead {
    const uint8_t *data;
    size_t stride_bytes, row_bytes;
    const uint32_t *rows;
    size_t count;
};

struct hamming_comparison {
    const uint8_t *queries; /* a panel, aligned to 64 bytes */
    const uint8_t *rows;    /* panels one after the other, all but the last full */
    size_t words;
    size_t query_count, row_count;
    const uint16_t *limits; /* the largest distance wanted for each query */
    /* A band: query q wants only rows [begins[q], ends[q]); neither array ever decreases. NULL:
     * every query wants every row. */
    const uint32_t *begins, *ends;
    struct hamming_ahead *ahead; /* or NULL */
    uint8_t *scratch; /* scratch_bytes, aligned to 64 bytes; of one comparison at a time */
};

struct hamming_tile {
    const char *name;
    size_t panel_rows; /* at most TILE_ROWS */
    /* From this number of queries on, preparing and comparing beats scanning the rows once per
     * query. */
    size_t worthwhile_queries;
    /* If a row is compared with fewer queries, the next slower method is faster because its
     * preparation is cheaper. */
    size_t least_queries_per_row;
    /* The best number of band queries to compare at once, at most TILE_QUERIES: the more queries,
     * the fewer of them want the same rows. */
    size_t band_queries;
    /* Bytes of a panel of TILE_QUERIES and of panel_rows; multiples of 64. */
    size_t (*queries_bytes)(size_t words);
    size_t (*rows_bytes)(size_t words);
    size_t (*scratch_bytes)(size_t words); /* of a comparison; NULL: 0 */
    /* count is at most TILE_QUERIES or panel_rows. */
    void (*prepare_queries)(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                            uint8_t *panel);
    void (*prepare_rows)(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         uint8_t *panel);
    /* Returns the number of hits, in no particular order. `hits` has room for every query and row.
     */
    size_t (*compare)(const struct hamming_comparison *comparison, struct hamming_hit *hits);
};

static inline size_t hamming_tile_scratch_bytes(const struct hamming_tile *tile, size_t words) {
    return tile->scratch_bytes ? tile->scratch_bytes(words) : 0;
}

/* The fastest method that cpu_best_level() allows. */
const struct hamming_tile *hamming_tile(void);
/* The fastest method if each row is compared with only `queries_per_row` queries. */
const struct hamming_tile *hamming_tile_for(size_t queries_per_row);

enum { HAMMING_TILE_METHODS = CPU_LEVEL_COUNT + 1 };
/* Lists all methods that this machine can run, slowest first; returns their number. */
size_t hamming_tile_methods(const struct hamming_tile *methods[HAMMING_TILE_METHODS]);

/* ---- Scanning -------------------------------------------------------------------------------- */

/* Compares a block of queries, prepared once, with any range of rows: the loop over panels that
 * exhaustive search and exhaustive joins share. Threads may share the queries; each needs its own
 * scratch. */

/* Free with tile_queries_free. */
struct tile_queries {
    const struct hamming_tile *tile;
    size_t words, count, capacity;
    uint8_t *panels;
    size_t size_bytes;
};

/* The number of queries of this width that fit in the second-level cache; a multiple of
 * TILE_QUERIES. */
size_t tile_queries_fitting(const struct hamming_tile *tile, unsigned bits);
cog_status tile_queries_create(struct tile_queries *queries, const struct hamming_tile *tile,
                               unsigned bits, size_t capacity, cog_error *error);
/* Rows [first, first + count) of the view become the queries; count is at most the capacity. */
void tile_queries_load(struct tile_queries *queries, const struct signatures_view *view,
                       size_t first, size_t count);
void tile_queries_free(struct tile_queries *queries);

/* The most rows that one comparison takes. */
enum { TILE_SCAN_ROWS = 1024 };

/* Scratch memory of one thread. Free with tile_scratch_free. */
struct tile_scratch {
    uint8_t *rows, *comparison;
    size_t rows_bytes, comparison_bytes;
    struct hamming_hit *hits;
};
cog_status tile_scratch_create(struct tile_scratch *scratch, const struct hamming_tile *tile,
                               unsigned bits, cog_error *error);
void tile_scratch_free(struct tile_scratch *scratch);

/* The hits of one comparison. */
struct tile_hits {
    const struct hamming_hit *hits;
    size_t count;
    size_t first_query, first_row; /* positions in the hits count from here */
    size_t row_end;                /* rows of later comparisons are never below this */
};

/* Receives hits. It may lower the limits of its queries. */
typedef cog_status tile_sink(void *context, const struct tile_hits *found, cog_error *error);

/* Compares all queries with rows [begin, end); limits has an entry for each query. */
cog_status tile_scan(const struct tile_queries *queries, struct tile_scratch *scratch,
                     const struct signatures_view *rows, size_t begin, size_t end,
                     const uint16_t *limits, tile_sink *sink, void *context, cog_error *error);

/* ---- What the tile methods share ------------------------------------------------------------- */

extern const struct hamming_tile hamming_tile_portable;
extern const struct hamming_tile hamming_tile_popcnt;
extern const struct hamming_tile hamming_tile_avx2;
extern const struct hamming_tile hamming_tile_avx512;
extern const struct hamming_tile hamming_tile_amx;
/* Requests the tile registers from the system; false if the CPU or the system has none. */
bool hamming_tile_amx_available(void);
extern const struct hamming_tile hamming_tile_neon;

static inline uint32_t comparison_limit(const struct hamming_comparison *comparison) {
    uint32_t limit = 0;
    for (size_t i = 0; i < comparison->query_count; i++)
        if (comparison->limits[i] > limit)
            limit = comparison->limits[i];
    return limit;
}

static inline size_t comparison_row_begin(const struct hamming_comparison *comparison,
                                          size_t query) {
    return comparison->begins ? comparison->begins[query] : 0;
}

static inline size_t comparison_row_end(const struct hamming_comparison *comparison, size_t query) {
    return comparison->ends && comparison->ends[query] < comparison->row_count
               ? comparison->ends[query]
               : comparison->row_count;
}

/* Whether a query of [first_query, last_query] wants a row of [row, row_end). */
static inline bool comparison_wants(const struct hamming_comparison *comparison, size_t first_query,
                                    size_t last_query, size_t row, size_t row_end) {
    if (!comparison->begins)
        return true;
    if (last_query >= comparison->query_count)
        last_query = comparison->query_count - 1;
    return comparison->begins[first_query] < row_end && comparison->ends[last_query] > row;
}

/* Prefetches up to `count` of the next rows. */
static inline void comparison_look_ahead(const struct hamming_comparison *comparison,
                                         size_t count) {
    struct hamming_ahead *ahead = comparison->ahead;
    for (; ahead && ahead->count && count; ahead->count--, count--) {
        const uint8_t *row = ahead->data + *ahead->rows++ * ahead->stride_bytes;
        for (size_t byte = 0; byte < ahead->row_bytes; byte += 64)
            __builtin_prefetch(row + byte, 0, 2);
    }
}

/* The number of words after which an unrelated pair (each bit differs with probability 1/2) exceeds
 * the limit by four standard deviations, so that checking the partial distances pays. `words` if it
 * never pays. */
static inline size_t abandon_words(size_t words, uint32_t limit) {
    for (size_t w = limit / 32 + 1; w < words; w++) {
        size_t margin = w * 32 - limit;
        if (margin * margin > 16 * 16 * w)
            return w;
    }
    return words;
}

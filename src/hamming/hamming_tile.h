/* Many queries against many rows. Both sides are first prepared into panels, in whatever layout the
 * method likes; comparing a panel of queries with a panel of rows lists the pairs within each
 * query's limit. A pair may be given up as soon as part of its bits differ in more places than the
 * limit, which never changes the list. Preparing costs about as much as comparing with a few dozen
 * queries. */
#pragma once

#include "hamming/hamming.h"

/* The greatest sizes of panels. */
enum { TILE_QUERIES = 128, TILE_ROWS = 64 };

/* Positions in the panels. */
struct hamming_hit {
    uint32_t distance;
    uint16_t query, row;
};

/* Rows that the next comparison will want: one that takes long brings them into the cache
 * meanwhile, a few at each step. */
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
    const uint16_t *limits; /* the largest distance wanted of each query */
    /* A band: query q wants rows [begins[q], ends[q]) only, and neither ever falls. NULL: all want
     * all. */
    const uint32_t *begins, *ends;
    struct hamming_ahead *ahead; /* or NULL */
    uint8_t *scratch; /* scratch_bytes, aligned to 64 bytes; of one comparison at a time */
};

struct hamming_tile {
    const char *name;
    size_t panel_rows; /* at most TILE_ROWS */
    /* From so many queries on, preparing and comparing beats scanning the rows for each query. */
    size_t worthwhile_queries;
    /* Where a row meets fewer queries, the next slower method is faster: it prepares at a lower
     * price. */
    size_t least_queries_a_row;
    /* Queries of a band that are best compared at once, at most TILE_QUERIES: the more there are,
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
    /* Returns the number of hits, in no particular order; hits holds one for each query and row. */
    size_t (*compare)(const struct hamming_comparison *comparison, struct hamming_hit *hits);
};

static inline size_t hamming_tile_scratch_bytes(const struct hamming_tile *tile, size_t words) {
    return tile->scratch_bytes ? tile->scratch_bytes(words) : 0;
}

/* The fastest method that cpu_best_level() allows. */
const struct hamming_tile *hamming_tile(void);
/* The fastest where every row meets so many queries only. */
const struct hamming_tile *hamming_tile_for(size_t queries_a_row);

enum { HAMMING_TILE_METHODS = CPU_LEVEL_COUNT + 1 };
/* All methods that this machine can run, slowest first; returns how many. */
size_t hamming_tile_methods(const struct hamming_tile *methods[HAMMING_TILE_METHODS]);

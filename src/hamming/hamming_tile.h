/* Many queries against many rows. Both sides are first prepared into panels, in whatever layout the
 * method likes; comparing a panel of queries with a panel of rows lists the pairs within each
 * query's limit. A pair may be given up as soon as part of its bits differ in more places than the
 * limit, which never changes the list. Preparing costs about as much as comparing with a few dozen
 * queries. */
#ifndef COGNATE_HAMMING_HAMMING_TILE_H
#define COGNATE_HAMMING_HAMMING_TILE_H

#include "hamming/hamming.h"

/* The greatest sizes of panels. */
enum { TILE_QUERIES = 128, TILE_ROWS = 64 };

/* Positions in the panels. */
struct hamming_hit {
    uint32_t distance;
    uint16_t query, row;
};

/* A panel of queries in the making: a method whose comparisons leave the core idle writes it
 * meanwhile. */
struct hamming_writer {
    uint64_t *masks; /* room for the words of all queries */
    uint8_t *panel;
    size_t written, tiles;
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
    struct hamming_writer *writer; /* of another panel, begun; or NULL */
};

struct hamming_tile {
    const char *name;
    size_t panel_rows; /* at most TILE_ROWS */
    /* From so many queries on, preparing and comparing beats scanning the rows for each query. */
    size_t worthwhile_queries;
    /* Where a row meets fewer queries, the next slower method is faster: it prepares at a lower
     * price. */
    size_t least_queries_a_row;
    /* Bytes of a panel of TILE_QUERIES and of panel_rows; multiples of 64. */
    size_t (*queries_bytes)(size_t words);
    size_t (*rows_bytes)(size_t words);
    /* count is at most TILE_QUERIES or panel_rows. */
    void (*prepare_queries)(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                            uint8_t *panel);
    void (*prepare_rows)(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                         uint8_t *panel);
    /* begin_queries instead of prepare_queries leaves the panel to the comparisons that follow and
     * to finish. NULL where nothing is gained by it. */
    void (*begin_queries)(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                          struct hamming_writer *writer);
    void (*finish)(struct hamming_writer *writer);
    /* Returns the number of hits, in no particular order; hits holds one for each query and row. */
    size_t (*compare)(const struct hamming_comparison *comparison, struct hamming_hit *hits);
};

/* The fastest method that cpu_best_level() allows. */
const struct hamming_tile *hamming_tile(void);
/* The fastest where every row meets so many queries only. */
const struct hamming_tile *hamming_tile_for(size_t queries_a_row);

enum { HAMMING_TILE_METHODS = CPU_LEVEL_COUNT + 1 };
/* All methods that this machine can run, slowest first; returns how many. */
size_t hamming_tile_methods(const struct hamming_tile *methods[HAMMING_TILE_METHODS]);

#endif

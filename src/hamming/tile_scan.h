/* A block of queries, prepared once, against any range of rows: the loop over panels that
 * exhaustive search and exhaustive joins share. The queries may serve several threads, each with
 * its own scratch. */
#pragma once

#include "base/error.h"
#include "hamming/hamming_tile.h"

/* Free with tile_queries_free. */
struct tile_queries {
    const struct hamming_tile *tile;
    size_t words, count, capacity;
    uint8_t *panels;
    size_t size_bytes;
};

/* How many queries of this width stay in the second-level cache; a multiple of TILE_QUERIES. */
size_t tile_queries_fitting(const struct hamming_tile *tile, unsigned bits);
cog_status tile_queries_create(struct tile_queries *queries, const struct hamming_tile *tile,
                               unsigned bits, size_t capacity, cog_error *error);
/* Rows [first, first + count) of the view become the queries; count is at most the capacity. */
void tile_queries_load(struct tile_queries *queries, const struct signatures_view *view,
                       size_t first, size_t count);
void tile_queries_free(struct tile_queries *queries);

/* Rows that meet the queries in one comparison, at most. */
enum { TILE_SCAN_ROWS = 1024 };

/* What one thread needs for itself. Free with tile_scratch_free. */
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
    size_t first_query, first_row; /* that the hits count from */
    size_t row_end;                /* the rows of later comparisons are no less */
};

/* Takes hits. It may lower the limits of its queries. */
typedef cog_status tile_sink(void *context, const struct tile_hits *found, cog_error *error);

/* Compares all queries with rows [begin, end); limits has an entry for each query. */
cog_status tile_scan(const struct tile_queries *queries, struct tile_scratch *scratch,
                     const struct signatures_view *rows, size_t begin, size_t end,
                     const uint16_t *limits, tile_sink *sink, void *context, cog_error *error);

/* All dot products of two lists of sparse rows, tile by tile, without a threshold: for evaluation,
 * for exact search, and, of the rarest columns alone, for joins whose threshold is low. A block of
 * the collection is turned round: columns that many of its rows have become dense arrays, the
 * others short lists; a query adds its columns one after the other into an array of sums that stays
 * in the first-level cache. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

/* Some rows of a matrix, or all in order when rows is NULL. */
struct cosine_rows {
    const struct sparse_matrix *matrix;
    const uint32_t *rows;
    size_t count;
};

static inline struct cosine_rows cosine_rows_all(const struct sparse_matrix *matrix) {
    return (struct cosine_rows){matrix, NULL, matrix->rows};
}

static inline uint32_t cosine_row_at(const struct cosine_rows *rows, size_t position) {
    return rows->rows ? rows->rows[position] : (uint32_t)position;
}

/* The most rows of the collection that a tile has. */
enum { COSINE_TILE_ROWS = 4096 };

/* values[r - row_begin] is the product of the rows at the positions query and r of their lists,
 * summed in float in an order that depends on the data alone: it differs from sparse_dot by at most
 * cosine_float_error. */
struct cosine_tile {
    size_t query;
    size_t row_begin, row_count;
    const float *values;
};

/* Called on any thread, worker < threads; the tiles of one query come in rising order of rows. */
typedef cog_status cosine_tile_work(void *context, unsigned worker, const struct cosine_tile *tile,
                                    cog_error *error);

struct cosine_tiling {
    struct cosine_rows queries, collection; /* of matrices with the same columns */
    bool later_only; /* leave out tiles without a row position above a query's */
    unsigned threads;
    cosine_tile_work *work;
    void *context;
    uint32_t column_end; /* products of the columns before this one alone; 0: of all */
};
cog_status cosine_tiles_run(const struct cosine_tiling *tiling, cog_error *error);

size_t cosine_tiles_memory_bytes(const struct sparse_matrix *collection, unsigned threads);

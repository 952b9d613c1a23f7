/* All dot products of two lists of sparse rows, tile by tile, plus bounds on norms and on the error
 * of float sums. Used for exact search, and with the rarest columns only for joins with a low
 * threshold.
 *
 * The collection is divided into blocks of COSINE_TILE_ROWS rows, stored by column: a column that
 * many of the rows have becomes a dense array, other columns short lists. A query adds its columns
 * one by one into an array of sums that stays in the first-level cache; that array is the tile. The
 * caller loops over the blocks (cosine_tiles_next) and requests a tile per query (cosine_tile),
 * from any number of threads. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

/* Some rows of a matrix; if `rows` is NULL, all rows in order. */
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

/* The maximum number of collection rows in a tile. */
enum { COSINE_TILE_ROWS = 4096, COSINE_TILE_GRAIN = 16 /* queries per task */ };

/* The products of one query with the rows of a block: values[r - row_begin] is the product of the
 * rows at positions `query` and r of their lists. Summed in float, in an order that depends only on
 * the data; differs from sparse_dot by at most cosine_float_error. */
struct cosine_tile {
    size_t query;
    size_t row_begin, row_count;
    const float *values;
};

/* Set the first six fields, zero the others; cosine_tiles_free releases, also after an error. */
struct cosine_tiles {
    struct cosine_rows queries, collection; /* of matrices with the same columns */
    bool later_only;     /* only queries with a later row position in the block */
    unsigned threads;    /* 0 means all */
    uint32_t column_end; /* use only the columns before this one; 0: all */
    size_t most_entries; /* approximate limit per block; 0: none */
    size_t query_count;  /* the queries of the block are 0 .. query_count */
    size_t begin, end;   /* positions of the block */
    struct tile_column *columns;
    struct tile_posting *postings;
    float *dense, *sums;
    size_t posting_capacity, dense_capacity, sums_bytes;
};
cog_status cosine_tiles_create(struct cosine_tiles *tiles, cog_error *error);
void cosine_tiles_free(struct cosine_tiles *tiles);
/* Goes to the next block; false after the last one, or if *status was or becomes an error. */
bool cosine_tiles_next(struct cosine_tiles *tiles, cog_status *status, cog_error *error);
/* The values are valid until the worker (below `threads`) requests the next tile. */
struct cosine_tile cosine_tile(const struct cosine_tiles *tiles, unsigned worker, size_t query);
size_t cosine_tiles_memory_bytes(const struct sparse_matrix *collection, unsigned threads);

/* ---- Norms ----------------------------------------------------------------------------------- */

/* L2 norms are computed in double, multiplied by this factor and stored as floats, so that they are
 * never too small. */
#define COSINE_ROUND_UP 1.000001f

/* For each entry of a row, the norm of the row from that entry on, rounded up, times a factor. */
void cosine_tail_lengths(const struct sparse_matrix *matrix, size_t row, float factor,
                         float *lengths);

/* The norm of a row from a column on, rounded up. */
float cosine_tail_length(const struct sparse_matrix *matrix, size_t row, uint32_t column);

/* The largest number of entries of a row, and the largest norm, rounded up. */
struct cosine_extent {
    size_t count;
    float length;
};
struct cosine_extent cosine_extent(const struct sparse_matrix *matrix);

/* Upper bound on the difference between sparse_dot and a float sum, in any order, of products of
 * floats. Also covers comparing such a sum plus one product of two rounded-up norms. */
double cosine_float_error(struct cosine_extent x, struct cosine_extent y);

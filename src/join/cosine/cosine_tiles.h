/* All dot products of two lists of sparse rows, tile by tile, and bounds on norms and on the error
 * of float sums. For exact search, and, of the rarest columns alone, for joins whose threshold is
 * low.
 *
 * The collection is taken in blocks of COSINE_TILE_ROWS rows, and a block is stored by column:
 * columns that many of its rows have become dense arrays, the others short lists. A query adds its
 * columns one after the other into an array of sums that stays in the first-level cache; that array
 * is the tile. The caller loops over the blocks (cosine_tiles_next) and asks for a tile per query
 * (cosine_tile), from as many threads as it likes. */
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
enum { COSINE_TILE_ROWS = 4096, COSINE_TILE_GRAIN = 16 /* queries per task */ };

/* The products of one query with the rows of a block: values[r - row_begin] is the product of the
 * rows at the positions query and r of their lists, summed in float in an order that depends on the
 * data alone: it differs from sparse_dot by at most cosine_float_error. */
struct cosine_tile {
    size_t query;
    size_t row_begin, row_count;
    const float *values;
};

/* Set the first six, zero the others; cosine_tiles_free releases, also after an error. */
struct cosine_tiles {
    struct cosine_rows queries, collection; /* of matrices with the same columns */
    bool later_only;     /* leave out queries without a row position of the block above theirs */
    unsigned threads;    /* 0 means all */
    uint32_t column_end; /* products of the columns before this one alone; 0: of all */
    size_t most_entries; /* of a block, about; 0: any */
    size_t query_count;  /* queries that meet the block: 0 .. query_count */
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
/* The values hold until the worker (below `threads`) asks again. */
struct cosine_tile cosine_tile(const struct cosine_tiles *tiles, unsigned worker, size_t query);
size_t cosine_tiles_memory_bytes(const struct sparse_matrix *collection, unsigned threads);

/* ---- Norms ----------------------------------------------------------------------------------- */

/* L2 norms are computed in double and kept as floats times this factor, so that they are never too
 * small. */
#define COSINE_ROUND_UP 1.000001f

/* The norm of the part of a row from each of its entries on, rounded up, times a factor. */
void cosine_tail_lengths(const struct sparse_matrix *matrix, size_t row, float factor,
                         float *lengths);

/* The norm of the part of a row from a column on, rounded up. */
float cosine_tail_length(const struct sparse_matrix *matrix, size_t row, uint32_t column);

/* The most entries of a row, and the largest norm, rounded up. */
struct cosine_extent {
    size_t count;
    float length;
};
struct cosine_extent cosine_extent(const struct sparse_matrix *matrix);

/* A bound on the difference between sparse_dot and a sum in float, in any order, of products of
 * floats; also covers a comparison of such a sum plus one product of two rounded-up norms. */
double cosine_float_error(struct cosine_extent x, struct cosine_extent y);

#include "join/cosine/cosine_tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* ---- Norms ----------------------------------------------------------------------------------- */

void cosine_tail_lengths(const struct sparse_matrix *matrix, size_t row, float factor,
                         float *lengths) {
    const float *values = matrix->values + matrix->offsets[row];
    double squares = 0;
    for (size_t i = (size_t)(matrix->offsets[row + 1] - matrix->offsets[row]); i-- > 0;) {
        squares += (double)values[i] * (double)values[i];
        lengths[i] = (float)sqrt(squares) * COSINE_ROUND_UP * factor;
    }
}

float cosine_tail_length(const struct sparse_matrix *matrix, size_t row, uint32_t column) {
    double squares = 0;
    for (uint64_t i = matrix->offsets[row] + sparse_row_before(matrix, row, column);
         i < matrix->offsets[row + 1]; i++)
        squares += (double)matrix->values[i] * (double)matrix->values[i];
    return (float)sqrt(squares) * COSINE_ROUND_UP;
}

struct cosine_extent cosine_extent(const struct sparse_matrix *matrix) {
    struct cosine_extent extent = {0, 0};
    for (size_t r = 0; r < matrix->rows; r++) {
        size_t count = (size_t)(matrix->offsets[r + 1] - matrix->offsets[r]);
        const float *values = matrix->values + matrix->offsets[r];
        double squares = 0;
        for (size_t i = 0; i < count; i++)
            squares += (double)values[i] * (double)values[i];
        float length = (float)sqrt(squares) * COSINE_ROUND_UP;
        extent.count = count > extent.count ? count : extent.count;
        extent.length = length > extent.length ? length : extent.length;
    }
    return extent;
}

/* n products and their sum have an error of at most (n + 1) * 2^-24 * |x| |y| and terms of second
 * order, because the sum of |x_i y_i| is at most |x| |y|. This is twice that, and a margin for one
 * more addition. */
double cosine_float_error(struct cosine_extent x, struct cosine_extent y) {
    double count = (double)(x.count < y.count ? x.count : y.count);
    return (count + 16) * 0x1p-23 * (double)x.length * (double)y.length;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* Sums of a block take 16 KiB. A column is stored dense if a fifth of the block's rows have it:
 * adding into scattered sums costs about five times as much per row as adding arrays. */
enum { BLOCK_ROWS = COSINE_TILE_ROWS, DENSE_SHARE = 5, FUSED = 4 };

#define DENSE UINT32_MAX

struct tile_posting {
    uint32_t row;
    float value;
};

/* A column of the block: a list, or if count is DENSE a dense array of BLOCK_ROWS values. */
struct tile_column {
    uint32_t start;
    uint32_t count;
};

/* A row's entries before the column. */
struct tile_row {
    const uint32_t *columns;
    const float *values;
    size_t count;
};

static struct tile_row tile_row(const struct cosine_rows *rows, size_t position,
                                uint32_t column_end) {
    const struct sparse_matrix *matrix = rows->matrix;
    uint32_t row = cosine_row_at(rows, position);
    uint64_t at = matrix->offsets[row];
    return (struct tile_row){matrix->columns + at, matrix->values + at,
                             sparse_row_before(matrix, row, column_end)};
}

/* Makes room for `needed` items, whose old values are not kept: exactly, because blocks have about
 * the same size, so doubling would waste as much as is used. */
#define ROOM(array, capacity, needed)                                                              \
    ((needed) <= (capacity) || (free(array), (array) = memory_array(needed, sizeof *(array)),      \
                                (capacity) = (array) ? (needed) : 0, (array) != NULL))

/* Assigns each column its list or array; false if out of memory. */
static bool lay_out_columns(struct cosine_tiles *tiles) {
    size_t postings = 0, dense = 0;
    for (uint32_t c = 0; c < tiles->column_end; c++) {
        struct tile_column *column = &tiles->columns[c];
        if ((size_t)column->count * DENSE_SHARE >= BLOCK_ROWS) {
            *column = (struct tile_column){(uint32_t)dense++, DENSE};
        } else {
            column->start = (uint32_t)postings;
            postings += column->count;
            column->count = 0;
        }
    }
    if (!ROOM(tiles->postings, tiles->posting_capacity, postings + 1) ||
        !ROOM(tiles->dense, tiles->dense_capacity, dense * BLOCK_ROWS + 1))
        return false;
    memset(tiles->dense, 0, dense * BLOCK_ROWS * sizeof *tiles->dense);
    return true;
}

static cog_status build_block(struct cosine_tiles *tiles, cog_error *error) {
    const struct cosine_rows *collection = &tiles->collection;
    const uint32_t column_end = tiles->column_end;
    memset(tiles->columns, 0, ((size_t)column_end + 1) * sizeof *tiles->columns);
    for (size_t r = tiles->begin; r < tiles->end; r++) {
        struct tile_row row = tile_row(collection, r, column_end);
        for (size_t i = 0; i < row.count; i++)
            tiles->columns[row.columns[i]].count++;
    }
    if (!lay_out_columns(tiles))
        return error_memory(error, cosine_tiles_memory_bytes(collection->matrix, 1), "cosines");
    for (size_t r = tiles->begin; r < tiles->end; r++) {
        struct tile_row row = tile_row(collection, r, column_end);
        uint32_t number = (uint32_t)(r - tiles->begin);
        for (size_t i = 0; i < row.count; i++) {
            struct tile_column *column = &tiles->columns[row.columns[i]];
            if (column->count == DENSE)
                tiles->dense[(size_t)column->start * BLOCK_ROWS + number] = row.values[i];
            else
                tiles->postings[column->start + column->count++] =
                    (struct tile_posting){number, row.values[i]};
        }
    }
    return COG_OK;
}

/* Adds FUSED dense columns at once, so that the sums are read and written only once for all of
 * them. */
static void add_dense(float *restrict sums, const float *const dense[FUSED],
                      const float weights[FUSED]) {
    const float *restrict d0 = dense[0], *restrict d1 = dense[1];
    const float *restrict d2 = dense[2], *restrict d3 = dense[3];
    float w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (size_t i = 0; i < BLOCK_ROWS; i++)
        sums[i] += (w0 * d0[i] + w1 * d1[i]) + (w2 * d2[i] + w3 * d3[i]);
}

static void add_query(const struct cosine_tiles *tiles, struct tile_row query, float *sums) {
    const float *dense[FUSED];
    float weights[FUSED];
    int waiting = 0;
    for (size_t i = 0; i < query.count; i++) {
        struct tile_column column = tiles->columns[query.columns[i]];
        if (column.count == DENSE) {
            dense[waiting] = tiles->dense + (size_t)column.start * BLOCK_ROWS;
            weights[waiting++] = query.values[i];
            if (waiting == FUSED) {
                add_dense(sums, dense, weights);
                waiting = 0;
            }
            continue;
        }
        const struct tile_posting *p = tiles->postings + column.start;
        float weight = query.values[i];
        for (uint32_t n = 0; n < column.count; n++)
            sums[p[n].row] += weight * p[n].value;
    }
    if (waiting > 0) {
        for (int i = waiting; i < FUSED; i++) {
            dense[i] = dense[0];
            weights[i] = 0;
        }
        add_dense(sums, dense, weights);
    }
}

struct cosine_tile cosine_tile(const struct cosine_tiles *tiles, unsigned worker, size_t query) {
    float *sums = tiles->sums + (size_t)worker * BLOCK_ROWS;
    memset(sums, 0, BLOCK_ROWS * sizeof *sums);
    add_query(tiles, tile_row(&tiles->queries, query, tiles->column_end), sums);
    return (struct cosine_tile){query, tiles->begin, tiles->end - tiles->begin, sums};
}

cog_status cosine_tiles_create(struct cosine_tiles *tiles, cog_error *error) {
    const struct sparse_matrix *matrix = tiles->collection.matrix;
    if (tiles->column_end == 0)
        tiles->column_end = matrix->column_count;
    tiles->threads = threads_resolve(tiles->threads);
    tiles->sums_bytes = (size_t)tiles->threads * BLOCK_ROWS * sizeof *tiles->sums;
    tiles->columns = memory_array((size_t)tiles->column_end + 1, sizeof *tiles->columns);
    tiles->sums = memory_large(tiles->sums_bytes);
    return tiles->columns && tiles->sums
               ? COG_OK
               : error_memory(error, cosine_tiles_memory_bytes(matrix, tiles->threads), "cosines");
}

static size_t block_end(const struct cosine_tiles *tiles) {
    const struct cosine_rows *rows = &tiles->collection;
    const uint64_t *offsets = rows->matrix->offsets;
    size_t end = tiles->begin, entries = 0;
    while (end < rows->count && end - tiles->begin < BLOCK_ROWS &&
           (!tiles->most_entries || entries < tiles->most_entries)) {
        uint32_t row = cosine_row_at(rows, end++);
        entries += (size_t)(offsets[row + 1] - offsets[row]);
    }
    return end;
}

bool cosine_tiles_next(struct cosine_tiles *tiles, cog_status *status, cog_error *error) {
    size_t left = tiles->collection.count - tiles->end;
    if (*status != COG_OK || left == 0)
        return false;
    tiles->begin = tiles->end;
    tiles->end = block_end(tiles);
    tiles->query_count = tiles->queries.count;
    if (tiles->later_only && tiles->end - 1 < tiles->query_count)
        tiles->query_count = tiles->end - 1;
    *status = build_block(tiles, error);
    return *status == COG_OK;
}

void cosine_tiles_free(struct cosine_tiles *tiles) {
    FREE(tiles->columns, tiles->postings, tiles->dense);
    memory_large_free(tiles->sums, tiles->sums_bytes);
}

/* A dense column has a fifth of the block's rows or more, so arrays have at most DENSE_SHARE values
 * per entry. */
size_t cosine_tiles_memory_bytes(const struct sparse_matrix *collection, unsigned threads) {
    uint64_t most = 0;
    for (size_t begin = 0; begin < collection->rows; begin += BLOCK_ROWS) {
        size_t left = collection->rows - begin, count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        uint64_t entries = collection->offsets[begin + count] - collection->offsets[begin];
        most = entries > most ? entries : most;
    }
    return ((size_t)collection->column_count + 1) * sizeof(struct tile_column) +
           (size_t)most * DENSE_SHARE * sizeof(float) +
           (size_t)threads_resolve(threads) * BLOCK_ROWS * sizeof(float);
}

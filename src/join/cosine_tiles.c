#include "join/cosine_tiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* Sums of a block take 16 KiB. A column becomes dense when a fifth of the block's rows have it:
 * adding into scattered sums costs about five times as much a row as adding arrays. */
enum { BLOCK_ROWS = COSINE_TILE_ROWS, QUERY_GRAIN = 16, DENSE_SHARE = 5, FUSED = 4 };

#define DENSE UINT32_MAX

struct tile_posting {
    uint32_t row;
    float value;
};

/* A column of the block: a list, or a dense array of BLOCK_ROWS values when count is DENSE. */
struct tile_column {
    uint32_t start;
    uint32_t count;
};

struct tile_block {
    size_t begin, end;
    struct tile_column *columns;
    struct tile_posting *postings;
    float *dense;
    size_t posting_capacity, dense_capacity;
};

struct tile_run {
    const struct cosine_tiling *tiling;
    uint32_t column_end;
    struct tile_block block;
    float *sums; /* BLOCK_ROWS for each worker */
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

/* Gives each column its list or its array; false when memory is out. */
static bool lay_out_columns(struct tile_block *block, uint32_t column_count) {
    size_t postings = 0, dense = 0;
    for (uint32_t c = 0; c < column_count; c++) {
        struct tile_column *column = &block->columns[c];
        if ((size_t)column->count * DENSE_SHARE >= BLOCK_ROWS) {
            *column = (struct tile_column){(uint32_t)dense++, DENSE};
        } else {
            column->start = (uint32_t)postings;
            postings += column->count;
            column->count = 0;
        }
    }
    if (!memory_grow((void **)&block->postings, &block->posting_capacity, postings + 1,
                     sizeof *block->postings) ||
        !memory_grow((void **)&block->dense, &block->dense_capacity, dense * BLOCK_ROWS + 1,
                     sizeof *block->dense))
        return false;
    memset(block->dense, 0, dense * BLOCK_ROWS * sizeof *block->dense);
    return true;
}

static cog_status build_block(struct tile_block *block, const struct cosine_rows *collection,
                              uint32_t column_end, cog_error *error) {
    memset(block->columns, 0, ((size_t)column_end + 1) * sizeof *block->columns);
    for (size_t r = block->begin; r < block->end; r++) {
        struct tile_row row = tile_row(collection, r, column_end);
        for (size_t i = 0; i < row.count; i++)
            block->columns[row.columns[i]].count++;
    }
    if (!lay_out_columns(block, column_end))
        return error_memory(error, cosine_tiles_memory_bytes(collection->matrix, 1), "cosines");
    for (size_t r = block->begin; r < block->end; r++) {
        struct tile_row row = tile_row(collection, r, column_end);
        uint32_t number = (uint32_t)(r - block->begin);
        for (size_t i = 0; i < row.count; i++) {
            struct tile_column *column = &block->columns[row.columns[i]];
            if (column->count == DENSE)
                block->dense[(size_t)column->start * BLOCK_ROWS + number] = row.values[i];
            else
                block->postings[column->start + column->count++] =
                    (struct tile_posting){number, row.values[i]};
        }
    }
    return COG_OK;
}

/* FUSED dense columns at once, so that the sums are read and written once for all. */
static void add_dense(float *restrict sums, const float *const dense[FUSED],
                      const float weights[FUSED]) {
    const float *restrict d0 = dense[0], *restrict d1 = dense[1];
    const float *restrict d2 = dense[2], *restrict d3 = dense[3];
    float w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (size_t i = 0; i < BLOCK_ROWS; i++)
        sums[i] += (w0 * d0[i] + w1 * d1[i]) + (w2 * d2[i] + w3 * d3[i]);
}

static void add_query(const struct tile_block *block, struct tile_row query, float *sums) {
    const float *dense[FUSED];
    float weights[FUSED];
    int waiting = 0;
    for (size_t i = 0; i < query.count; i++) {
        struct tile_column column = block->columns[query.columns[i]];
        if (column.count == DENSE) {
            dense[waiting] = block->dense + (size_t)column.start * BLOCK_ROWS;
            weights[waiting++] = query.values[i];
            if (waiting == FUSED) {
                add_dense(sums, dense, weights);
                waiting = 0;
            }
            continue;
        }
        const struct tile_posting *p = block->postings + column.start;
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

static cog_status run_queries(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    struct tile_run *run = context;
    const struct tile_block *block = &run->block;
    float *sums = run->sums + (size_t)worker * BLOCK_ROWS;
    cog_status status = COG_OK;
    for (size_t q = begin; q < end && status == COG_OK; q++) {
        struct cosine_tile tile = {q, block->begin, block->end - block->begin, sums};
        memset(sums, 0, BLOCK_ROWS * sizeof *sums);
        add_query(block, tile_row(&run->tiling->queries, q, run->column_end), sums);
        status = run->tiling->work(run->tiling->context, worker, &tile, error);
    }
    return status;
}

cog_status cosine_tiles_run(const struct cosine_tiling *tiling, cog_error *error) {
    const struct cosine_rows *collection = &tiling->collection;
    struct tile_run run = {.tiling = tiling,
                           .column_end = tiling->column_end ? tiling->column_end
                                                            : collection->matrix->column_count};
    unsigned threads = threads_resolve(tiling->threads);
    size_t sums_bytes = (size_t)threads * BLOCK_ROWS * sizeof *run.sums;
    run.block.columns = memory_array((size_t)run.column_end + 1, sizeof *run.block.columns);
    run.sums = memory_large(sums_bytes);
    cog_status status = COG_OK;
    if (!run.block.columns || !run.sums)
        status =
            error_memory(error, cosine_tiles_memory_bytes(collection->matrix, threads), "cosines");
    while (status == COG_OK && run.block.end < collection->count) {
        size_t left = collection->count - run.block.end;
        run.block.begin = run.block.end;
        run.block.end += left < BLOCK_ROWS ? left : BLOCK_ROWS;
        status = build_block(&run.block, collection, run.column_end, error);
        size_t queries = tiling->queries.count;
        if (tiling->later_only && run.block.end - 1 < queries)
            queries = run.block.end - 1;
        THEN(status, parallel_for(threads, queries, QUERY_GRAIN, run_queries, &run, error));
    }
    free(run.block.columns);
    free(run.block.postings);
    free(run.block.dense);
    memory_large_free(run.sums, sums_bytes);
    return status;
}

/* A dense column has a fifth of the block's rows or more, so arrays take at most DENSE_SHARE values
 * for each entry that they hold; growing arrays may take twice what they need. */
size_t cosine_tiles_memory_bytes(const struct sparse_matrix *collection, unsigned threads) {
    uint64_t most = 0;
    for (size_t begin = 0; begin < collection->rows; begin += BLOCK_ROWS) {
        size_t left = collection->rows - begin, count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        uint64_t entries = collection->offsets[begin + count] - collection->offsets[begin];
        most = entries > most ? entries : most;
    }
    return ((size_t)collection->column_count + 1) * sizeof(struct tile_column) +
           (size_t)most * 2 * DENSE_SHARE * sizeof(float) +
           (size_t)threads_resolve(threads) * BLOCK_ROWS * sizeof(float);
}

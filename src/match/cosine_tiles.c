#include "match/cosine_tiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* Sums of a block take 16 KiB. A column becomes dense when a fifth of the block's rows have it:
 * adding into scattered sums costs about five times as much a row as adding arrays. */
enum { BLOCK_ROWS = 4096, TILE_QUERIES = 16, DENSE_SHARE = 5, FUSED = 4 };

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
    struct tile_block block;
    float *sums; /* TILE_QUERIES * BLOCK_ROWS for each worker */
};

static const uint32_t *row_columns(const struct cosine_rows *rows, size_t position, size_t *count,
                                   const float **values) {
    const struct sparse_matrix *matrix = rows->matrix;
    uint32_t row = cosine_row_at(rows, position);
    uint64_t at = matrix->offsets[row];
    *count = (size_t)(matrix->offsets[row + 1] - at);
    *values = matrix->values + at;
    return matrix->columns + at;
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
                              cog_error *error) {
    uint32_t column_count = collection->matrix->column_count;
    const float *values;
    size_t count;
    memset(block->columns, 0, ((size_t)column_count + 1) * sizeof *block->columns);
    for (size_t r = block->begin; r < block->end; r++) {
        const uint32_t *columns = row_columns(collection, r, &count, &values);
        for (size_t i = 0; i < count; i++)
            block->columns[columns[i]].count++;
    }
    if (!lay_out_columns(block, column_count))
        return error_memory(error, cosine_tiles_memory_bytes(collection->matrix, 1), "cosines");
    for (size_t r = block->begin; r < block->end; r++) {
        const uint32_t *columns = row_columns(collection, r, &count, &values);
        uint32_t row = (uint32_t)(r - block->begin);
        for (size_t i = 0; i < count; i++) {
            struct tile_column *column = &block->columns[columns[i]];
            if (column->count == DENSE)
                block->dense[(size_t)column->start * BLOCK_ROWS + row] = values[i];
            else
                block->postings[column->start + column->count++] =
                    (struct tile_posting){row, values[i]};
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

static void add_query(const struct tile_block *block, const uint32_t *columns, const float *values,
                      size_t count, float *sums) {
    const float *dense[FUSED];
    float weights[FUSED];
    int waiting = 0;
    for (size_t i = 0; i < count; i++) {
        struct tile_column column = block->columns[columns[i]];
        if (column.count == DENSE) {
            dense[waiting] = block->dense + (size_t)column.start * BLOCK_ROWS;
            weights[waiting++] = values[i];
            if (waiting == FUSED) {
                add_dense(sums, dense, weights);
                waiting = 0;
            }
            continue;
        }
        const struct tile_posting *p = block->postings + column.start;
        float weight = values[i];
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

static cog_status run_tile(void *context, unsigned worker, size_t begin, size_t end,
                           cog_error *error) {
    struct tile_run *run = context;
    const struct cosine_rows *queries = &run->tiling->queries;
    float *sums = run->sums + (size_t)worker * TILE_QUERIES * BLOCK_ROWS;
    memset(sums, 0, (end - begin) * BLOCK_ROWS * sizeof *sums);
    for (size_t q = begin; q < end; q++) {
        const float *values;
        size_t count;
        const uint32_t *columns = row_columns(queries, q, &count, &values);
        add_query(&run->block, columns, values, count, sums + (q - begin) * BLOCK_ROWS);
    }
    struct cosine_tile tile = {.query_begin = begin,
                               .query_count = end - begin,
                               .row_begin = run->block.begin,
                               .row_count = run->block.end - run->block.begin,
                               .values = sums,
                               .stride = BLOCK_ROWS};
    return run->tiling->work(run->tiling->context, worker, &tile, error);
}

cog_status cosine_tiles_run(const struct cosine_tiling *tiling, cog_error *error) {
    struct tile_run run = {.tiling = tiling};
    const struct cosine_rows *collection = &tiling->collection;
    unsigned threads = threads_resolve(tiling->threads);
    size_t column_count = collection->matrix->column_count;
    size_t sums_bytes = (size_t)threads * TILE_QUERIES * BLOCK_ROWS * sizeof *run.sums;
    run.block.columns = memory_array(column_count + 1, sizeof *run.block.columns);
    run.sums = memory_large(sums_bytes);
    cog_status status = COG_OK;
    if (!run.block.columns || !run.sums)
        status =
            error_memory(error, cosine_tiles_memory_bytes(collection->matrix, threads), "cosines");
    while (status == COG_OK && run.block.end < collection->count) {
        size_t left = collection->count - run.block.end;
        run.block.begin = run.block.end;
        run.block.end += left < BLOCK_ROWS ? left : BLOCK_ROWS;
        status = build_block(&run.block, collection, error);
        size_t queries = tiling->queries.count;
        if (tiling->later_only && run.block.end - 1 < queries)
            queries = run.block.end - 1;
        if (status == COG_OK)
            status = parallel_for(threads, queries, TILE_QUERIES, run_tile, &run, error);
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
           (size_t)threads_resolve(threads) * TILE_QUERIES * BLOCK_ROWS * sizeof(float);
}

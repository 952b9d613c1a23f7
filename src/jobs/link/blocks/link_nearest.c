#include "jobs/link/blocks/link_nearest.h"

#include <float.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/pair_check.h"

/* ---- Exact search ---------------------------------------------------------------------------- */

/* Offers the k nearest rows of each block of a side to the queries, which are numbered from `first`
 * on. */
static cog_status search_side(const struct sparse_matrix *queries, size_t first,
                              const struct link_space *space, int side, unsigned threads,
                              struct cosine_neighbours *nearest, cog_error *error) {
    const struct sparse_matrix *vectors = &space->vectors[side];
    struct vector_block block = {0};
    cog_status status = COG_OK;
    for (size_t begin = 0, count; begin < vectors->rows && status == COG_OK; begin += count) {
        struct cosine_neighbours found = {0};
        count = vector_block_rows(vectors, begin, vector_block_entries());
        status = vector_block_load(&block, space, side, begin, count, error);
        THEN(status, cosine_topk(queries, &block.rows, nearest->k, threads, &found, error));
        for (size_t q = 0; status == COG_OK && q < queries->rows; q++)
            for (size_t i = 0; i < found.counts[q]; i++) {
                struct cosine_neighbour item = found.items[q * found.k + i];
                item.row += (uint32_t)begin;
                cosine_neighbours_offer(nearest, first + q, item);
            }
        cosine_topk_free(&found);
    }
    vector_block_free(&block);
    return status;
}

cog_status link_nearest_exactly(const struct link_space *space, int side, size_t k,
                                unsigned threads, struct cosine_neighbours *nearest,
                                cog_error *error) {
    const struct sparse_matrix *vectors = &space->vectors[side];
    struct vector_block block = {0};
    cog_status status = cosine_neighbours_take(nearest, vectors->rows, k, error);
    for (size_t begin = 0, count; begin < vectors->rows && status == COG_OK; begin += count) {
        count = vector_block_rows(vectors, begin, vector_block_entries());
        status = vector_block_load(&block, space, side, begin, count, error);
        THEN(status, search_side(&block.rows, begin, space, !side, threads, nearest, error));
    }
    vector_block_free(&block);
    return status;
}

cog_status link_nearest_of_rows(const struct link_space *space, const uint32_t *rows, size_t count,
                                size_t k, unsigned threads, struct cosine_neighbours *nearest,
                                cog_error *error) {
    struct sparse_matrix queries = {0};
    cog_status status = cosine_neighbours_take(nearest, count, k, error);
    THEN(status, vector_rows_copy(space, 0, rows, count, &queries, error));
    THEN(status, search_side(&queries, 0, space, 1, threads, nearest, error));
    sparse_matrix_free(&queries);
    return status;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

struct rescoring {
    const struct link_space *space;
    int side;
    unsigned threads;
    struct vector_block blocks[2]; /* of the rows a, of the rows b */
    struct cosine_neighbours *of_a, *of_b;
};

static int by_other_row(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    return p->b != q->b ? ORDER(p->b, q->b) : ORDER(p->a, q->a);
}

/* Processes the pairs of the two loaded blocks. */
static cog_status rescore_blocks(const struct rescoring *work, struct match *items, size_t count,
                                 cog_error *error) {
    const uint32_t firsts[2] = {(uint32_t)work->blocks[0].first, (uint32_t)work->blocks[1].first};
    const struct pair_check check = {.vectors = {&work->blocks[0].rows, &work->blocks[1].rows},
                                     .threshold = DBL_TRUE_MIN, /* above 0 */
                                     .threads = work->threads};
    struct match_list pairs = {.items = items, .count = count};
    for (size_t i = 0; i < count; i++) {
        items[i].a -= firsts[0];
        items[i].b -= firsts[1];
    }
    TRY(pair_check_run(&check, &pairs, error));
    for (size_t i = 0; i < pairs.count; i++) {
        uint32_t a = items[i].a + firsts[0], b = items[i].b + firsts[1];
        if (work->of_a)
            cosine_neighbours_offer(work->of_a, a,
                                    (struct cosine_neighbour){b, items[i].similarity});
        if (work->of_b)
            cosine_neighbours_offer(work->of_b, b,
                                    (struct cosine_neighbour){a, items[i].similarity});
    }
    return COG_OK;
}

/* Processes the pairs of the block of rows a, block by block of rows b. */
static cog_status rescore_rows(struct rescoring *work, struct match *items, size_t count,
                               cog_error *error) {
    const struct sparse_matrix *others = &work->space->vectors[!work->side];
    if (!work->space->is_on_disk) {
        TRY(vector_block_load(&work->blocks[1], work->space, !work->side, 0, others->rows, error));
        return rescore_blocks(work, items, count, error);
    }
    qsort(items, count, sizeof *items, by_other_row);
    for (size_t at = 0, begin = 0, rows; at < count; begin += rows) {
        size_t end = at;
        rows = vector_block_rows(others, begin, vector_block_entries());
        while (end < count && items[end].b < begin + rows)
            end++;
        if (end == at)
            continue;
        TRY(vector_block_load(&work->blocks[1], work->space, !work->side, begin, rows, error));
        match_list_sort(&(struct match_list){.items = items + at, .count = end - at});
        TRY(rescore_blocks(work, items + at, end - at, error));
        at = end;
    }
    return COG_OK;
}

cog_status link_nearest_of_pairs(const struct link_space *space, int side, unsigned threads,
                                 struct match_list *pairs, struct cosine_neighbours *of_a,
                                 struct cosine_neighbours *of_b, cog_error *error) {
    const struct sparse_matrix *vectors = &space->vectors[side];
    struct rescoring work = {
        .space = space, .side = side, .threads = threads, .of_a = of_a, .of_b = of_b};
    cog_status status = COG_OK;
    for (size_t at = 0, end; at < pairs->count && status == COG_OK; at = end) {
        size_t begin = space->is_on_disk ? pairs->items[at].a : 0, rows = vectors->rows;
        if (space->is_on_disk)
            rows = vector_block_rows(vectors, begin, vector_block_entries());
        FIND_FIRST_NOT(end, at, pairs->count, pairs->items[end].a < begin + rows);
        status = vector_block_load(&work.blocks[0], space, side, begin, rows, error);
        THEN(status, rescore_rows(&work, pairs->items + at, end - at, error));
    }
    vector_block_free(&work.blocks[0]);
    vector_block_free(&work.blocks[1]);
    return status;
}

uint64_t link_nearest_memory_bytes(const struct link_space *space, int side, size_t k,
                                   unsigned threads) {
    const struct sparse_matrix *vectors = &space->vectors[side];
    struct sparse_matrix queries = {.column_count = vectors->column_count};
    for (size_t first = 0, rows; first < vectors->rows; first += rows) {
        rows = vector_block_rows(vectors, first, vector_block_entries());
        queries.rows = rows > queries.rows ? rows : queries.rows;
    }
    return vector_block_memory_bytes(space, 0, vector_block_entries()) +
           vector_block_memory_bytes(space, 1, vector_block_entries()) +
           cosine_topk_memory_bytes(&queries, &space->vectors[!side], k, threads);
}

#include "join/cosine_heads.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/cosine_bounds.h"

/* Costs in nanoseconds, measured on one core: a column that two heads share; a pair's part of
 * looking up the query's lists and of comparing its sum; an entry of a row whose true product is
 * formed. */
static const double shared_ns = 1.3, pair_ns = 0.4, entry_ns = 1.5;

/* ---- A cut -------------------------------------------------------------------------------------
 */

static float *rest_lengths(const struct cosine_rows *rows, uint32_t column, double factor) {
    float *lengths = memory_array(rows->count + 1, sizeof *lengths);
    for (size_t i = 0; lengths && i < rows->count; i++)
        lengths[i] =
            cosine_rest_length(rows->matrix, cosine_row_at(rows, i), column) * (float)factor;
    return lengths;
}

cog_status cosine_heads_create(struct cosine_heads *heads, const struct cosine_heads_task *task,
                               int cut, cog_error *error) {
    uint32_t column = task->cuts.columns[cut];
    double rest = task->rests ? task->rests->cosines[cut] : 1;
    *heads = (struct cosine_heads){.column_end = column, .threshold = task->threshold};
    heads->query_rests = rest_lengths(&task->queries, column, rest);
    heads->row_rests = rest_lengths(&task->collection, column, 1);
    if (heads->query_rests && heads->row_rests)
        return COG_OK;
    return error_memory(error, (task->queries.count + task->collection.count) * sizeof(float),
                        "a cosine join");
}

void cosine_heads_free(struct cosine_heads *heads) {
    free(heads->query_rests);
    free(heads->row_rests);
    *heads = (struct cosine_heads){0};
}

size_t cosine_heads_reach(const struct cosine_heads *heads, const struct cosine_tile *tile,
                          size_t from, uint32_t rows[COSINE_TILE_ROWS], uint64_t *met) {
    enum { RUN = 32 };
    const float rest = heads->query_rests[tile->query], threshold = heads->threshold;
    size_t kept = 0;
    for (size_t begin = from; begin < tile->row_count; begin += RUN) {
        size_t count = tile->row_count - begin < RUN ? tile->row_count - begin : RUN;
        const float *sums = tile->values + begin;
        const float *rests = heads->row_rests + tile->row_begin + begin;
        uint32_t near = 0, shared = 0;
        for (size_t i = 0; i < count; i++) {
            near += sums[i] + rest * rests[i] >= threshold;
            shared += sums[i] != 0;
        }
        *met += shared;
        for (size_t i = 0; near > 0 && i < count; i++) {
            bool reaches = sums[i] + rest * rests[i] >= threshold;
            rows[kept] = (uint32_t)(begin + i);
            kept += reaches;
            *met += reaches && sums[i] == 0;
        }
    }
    return kept;
}

/* ---- The choice --------------------------------------------------------------------------------
 */

static struct cosine_rows spread(const struct cosine_rows *rows, size_t most, uint32_t *sample) {
    size_t count = rows->count < most ? rows->count : most;
    for (size_t i = 0; i < count; i++)
        sample[i] = cosine_row_at(rows, i * rows->count / count);
    return (struct cosine_rows){rows->matrix, sample, count};
}

void cosine_sample_draw(struct cosine_sample *sample, const struct cosine_rows *queries,
                        const struct cosine_rows *collection) {
    enum { QUERIES = 128 };
    const struct sparse_matrix *matrix = collection->matrix;
    sample->queries = spread(queries, QUERIES, sample->rows[0]);
    sample->collection = spread(collection, COSINE_SAMPLE_ROWS, sample->rows[1]);
    sample->product_ns = entry_ns * (double)matrix->offsets[matrix->rows] / (double)matrix->rows;
}

struct reach_count {
    const struct cosine_heads *heads;
    uint64_t in_reach;
};

static cog_status count_reach(void *context, unsigned worker, const struct cosine_tile *tile,
                              cog_error *error) {
    (void)worker;
    (void)error;
    struct reach_count *count = context;
    uint32_t rows[COSINE_TILE_ROWS];
    uint64_t met = 0;
    count->in_reach += cosine_heads_reach(count->heads, tile, 0, rows, &met);
    return COG_OK;
}

/* The cost of a cut, by the pairs of the sample, which a task of its own has. */
static cog_status judge_cut(const struct cosine_heads_task *sampled, double true_product_ns,
                            int cut, double *cost, cog_error *error) {
    struct cosine_heads heads = {0};
    struct reach_count count = {.heads = &heads};
    double pairs = (double)sampled->queries.count * (double)sampled->collection.count;
    cog_status status = cosine_heads_create(&heads, sampled, cut, error);
    struct cosine_tiling tiling = {.queries = sampled->queries,
                                   .collection = sampled->collection,
                                   .threads = 1,
                                   .work = count_reach,
                                   .context = &count,
                                   .column_end = heads.column_end};
    THEN(status, cosine_tiles_run(&tiling, error));
    cosine_heads_free(&heads);
    *cost = pair_ns + shared_ns * sampled->cuts.products[cut] +
            true_product_ns * (double)count.in_reach / pairs;
    return status;
}

cog_status cosine_heads_choose(const struct cosine_heads_task *task,
                               const struct cosine_sample *sample,
                               struct cosine_heads_choice *choice, cog_error *error) {
    struct cosine_heads_task sampled = *task;
    sampled.queries = sample->queries;
    sampled.collection = sample->collection;
    cog_status status = COG_OK;
    *choice = (struct cosine_heads_choice){.pair_ns = HUGE_VAL};
    for (int cut = 0; cut < COSINE_CUTS && status == COG_OK; cut++) {
        double cost;
        if (pair_ns + shared_ns * task->cuts.products[cut] >= choice->pair_ns)
            break;
        status = judge_cut(&sampled, sample->product_ns, cut, &cost, error);
        if (cost < choice->pair_ns)
            *choice = (struct cosine_heads_choice){cut, cost};
    }
    return status;
}

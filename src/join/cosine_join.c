#include "join/cosine_join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "join/cosine_bounds.h"
#include "join/cosine_heads.h"
#include "join/cosine_probe.h"
#include "join/equal_rows.h"

/* A block's accumulators stay in the second-level cache; its index is built on the way. */
enum { BLOCK_ROWS = 8192, BLOCK_ENTRIES = 1 << 22, QUERY_GRAIN = 64 };

_Static_assert((int)BLOCK_ROWS >= (int)COSINE_TILE_ROWS, "rows in reach have the room of met ones");

struct worker {
    struct cosine_probe probe;
    struct join_part part;
};

struct cosine_join {
    size_t listed;                          /* matches of all workers; atomic */
    struct cosine_rows queries, collection; /* the first rows of groups; the same for a self-join */
    struct equal_rows groups[2];
    const struct equal_rows *query_groups, *collection_groups;
    bool self;
    double threshold;
    float filter_threshold; /* lowered by the error of float sums */
    const struct cosine_rests *rests;
    struct cosine_extent query_extent;
    size_t block_begin, block_end;
    struct cosine_index index;
    float *query_lengths; /* x(c) at each entry of the queries' matrix, times the rest's cosine */
    struct cosine_heads heads;
    uint8_t *spans;
    struct worker *workers;
    unsigned threads;
};

/* Decides by the true product, with the query spread over the worker's columns. */
static cog_status verify(const struct cosine_join *join, struct worker *worker, size_t query,
                         size_t position, cog_error *error) {
    double dot = sparse_dense_dot(worker->probe.dense, join->collection.matrix,
                                  join->collection.rows[position]);
    worker->part.work.verified++;
    if (!(dot >= join->threshold))
        return COG_OK;
    return equal_rows_match(join->query_groups, query, join->collection_groups, position,
                            join->self, dot, &worker->part.matches, error);
}

/* ---- By inverted lists ----------------------------------------------------------------------- */

static float met_rest_cosine(const struct cosine_join *join) {
    return join->rests ? (float)join->rests->cosines[COSINE_REST_MET] : 1;
}

/* The least y(c) of an entry that lists hold. */
static float least_listed(const struct cosine_join *join) {
    return join->filter_threshold / (join->query_extent.length * met_rest_cosine(join));
}

static struct cosine_query query_of(const struct cosine_join *join, uint32_t row,
                                    const float *lengths) {
    const struct sparse_matrix *matrix = join->queries.matrix;
    uint64_t at = matrix->offsets[row];
    return (struct cosine_query){matrix->columns + at, matrix->values + at, lengths,
                                 (size_t)(matrix->offsets[row + 1] - at)};
}

static cog_status run_query(const struct cosine_join *join, struct worker *worker, size_t position,
                            cog_error *error) {
    uint32_t row = join->queries.rows[position], first = 0;
    struct cosine_query query =
        query_of(join, row, join->query_lengths + join->queries.matrix->offsets[row]);
    if (join->self && position >= join->block_begin)
        first = (uint32_t)(position - join->block_begin) + 1;
    size_t kept = cosine_probe_run(&worker->probe, &join->index, &query, join->filter_threshold,
                                   first, &worker->part.work);
    cog_status status = COG_OK;
    for (size_t i = 0; i < kept && status == COG_OK; i++)
        status = verify(join, worker, position, join->block_begin + worker->probe.met[i], error);
    if (kept > 0)
        cosine_probe_unload(&worker->probe, &query);
    return status;
}

static cog_status run_queries(void *context, unsigned number, size_t begin, size_t end,
                              cog_error *error) {
    struct cosine_join *join = context;
    cog_status status = COG_OK;
    for (size_t i = begin; i < end && status == COG_OK; i++)
        status = run_query(join, &join->workers[number], i, error);
    return status;
}

static size_t block_end(const struct cosine_rows *rows, size_t begin, size_t *entries) {
    const uint64_t *offsets = rows->matrix->offsets;
    size_t end = begin;
    *entries = 0;
    while (end < rows->count && end - begin < BLOCK_ROWS && *entries < BLOCK_ENTRIES) {
        *entries += (size_t)(offsets[rows->rows[end] + 1] - offsets[rows->rows[end]]);
        end++;
    }
    return end;
}

/* Room for the blocks of some rows. */
static cog_status make_index(struct cosine_index *index, const struct cosine_rows *rows,
                             cog_error *error) {
    size_t most_entries = 0, entries;
    for (size_t begin = 0; begin < rows->count;) {
        begin = block_end(rows, begin, &entries);
        most_entries = entries > most_entries ? entries : most_entries;
    }
    return cosine_index_create(index, rows->matrix->column_count, BLOCK_ROWS, most_entries, error);
}

static cog_status run_lists(struct cosine_join *join, cog_error *error) {
    const struct sparse_matrix *queries = join->queries.matrix;
    size_t count = (size_t)queries->offsets[queries->rows], entries;
    const float rest = met_rest_cosine(join);
    cog_status status = make_index(&join->index, &join->collection, error);
    join->query_lengths = memory_array(count + 1, sizeof *join->query_lengths);
    if (status == COG_OK && !join->query_lengths)
        status = error_memory(error, count * sizeof *join->query_lengths, "a cosine join");
    for (size_t row = 0; row < queries->rows && status == COG_OK; row++)
        cosine_rest_lengths(queries, row, rest, join->query_lengths + queries->offsets[row]);
    while (join->block_end < join->collection.count && status == COG_OK) {
        join->block_begin = join->block_end;
        join->block_end = block_end(&join->collection, join->block_begin, &entries);
        cosine_index_build(&join->index, join->collection.matrix,
                           join->collection.rows + join->block_begin,
                           join->block_end - join->block_begin, least_listed(join));
        status = parallel_for(join->threads, join->self ? join->block_end : join->queries.count,
                              QUERY_GRAIN, run_queries, join, error);
    }
    return status;
}

/* ---- By heads -------------------------------------------------------------------------------- */

static cog_status join_tile(void *context, unsigned number, const struct cosine_tile *tile,
                            cog_error *error) {
    struct cosine_join *join = context;
    struct worker *worker = &join->workers[number];
    uint32_t *rows = worker->probe.met, query = join->queries.rows[tile->query];
    size_t from = 0;
    cog_status status = COG_OK;
    if (join->self && tile->query >= tile->row_begin)
        from = tile->query + 1 - tile->row_begin;
    size_t kept = cosine_heads_reach(&join->heads, tile, from, rows, &worker->part.work.candidates);
    if (kept == 0)
        return COG_OK;
    sparse_spread(join->queries.matrix, query, worker->probe.dense);
    for (size_t i = 0; i < kept && status == COG_OK; i++)
        status = verify(join, worker, tile->query, tile->row_begin + rows[i], error);
    sparse_clear(join->queries.matrix, query, worker->probe.dense);
    return status;
}

static cog_status run_heads(struct cosine_join *join, const struct cosine_heads_task *task, int cut,
                            cog_error *error) {
    cog_status status = cosine_heads_create(&join->heads, task, cut, error);
    struct cosine_tiling tiling = {.queries = join->queries,
                                   .collection = join->collection,
                                   .later_only = join->self,
                                   .threads = join->threads,
                                   .work = join_tile,
                                   .context = join,
                                   .column_end = join->heads.column_end};
    return status == COG_OK ? cosine_tiles_run(&tiling, error) : status;
}

/* ---- The cheaper of the two ------------------------------------------------------------------ */

/* What the lists of the sample's rows cost its queries, in nanoseconds a pair of rows. Measured: 2
 * a posting and 26 a row met. */
static cog_status judge_lists(const struct cosine_join *join, const struct cosine_sample *sample,
                              double *pair_ns, cog_error *error) {
    struct cosine_index index = {0};
    struct join_work work = {0};
    struct cosine_probe *probe = &join->workers[0].probe;
    float *lengths = memory_array(join->query_extent.count + 1, sizeof *lengths);
    cog_status status = make_index(&index, &sample->collection, error);
    if (status == COG_OK && !lengths)
        status = error_memory(error, join->query_extent.count * sizeof *lengths, "a cosine join");
    if (status == COG_OK)
        cosine_index_build(&index, sample->collection.matrix, sample->collection.rows,
                           sample->collection.count, least_listed(join));
    for (size_t i = 0; i < sample->queries.count && status == COG_OK; i++) {
        uint32_t row = sample->queries.rows[i];
        cosine_rest_lengths(join->queries.matrix, row, met_rest_cosine(join), lengths);
        struct cosine_query query = query_of(join, row, lengths);
        size_t kept = cosine_probe_run(probe, &index, &query, join->filter_threshold, 0, &work);
        if (kept > 0)
            cosine_probe_unload(probe, &query);
        work.verified += kept;
    }
    cosine_index_free(&index);
    free(lengths);
    *pair_ns = (2 * (double)work.postings + 26 * (double)work.candidates +
                sample->product_ns * (double)work.verified) /
               ((double)sample->queries.count * (double)sample->collection.count);
    return status;
}

static cog_status run_cheaper(struct cosine_join *join, cog_error *error) {
    struct cosine_sample sample;
    struct cosine_heads_task task = {.queries = join->queries,
                                     .collection = join->collection,
                                     .rests = join->rests,
                                     .threshold = join->filter_threshold};
    struct cosine_heads_choice heads = {0};
    double lists_ns = 0;
    cosine_sample_draw(&sample, &join->queries, &join->collection);
    cog_status status =
        cosine_cuts_find(join->queries.matrix, join->collection.matrix, &task.cuts, error);
    THEN(status, cosine_heads_choose(&task, &sample, &heads, error));
    THEN(status, judge_lists(join, &sample, &lists_ns, error));
    if (status != COG_OK)
        return status;
    return lists_ns <= heads.pair_ns ? run_lists(join, error)
                                     : run_heads(join, &task, heads.cut, error);
}

/* Rows of a group are equal, so their similarity is the square of their length. */
static cog_status match_within_groups(struct cosine_join *join, struct match_list *matches,
                                      cog_error *error) {
    const struct equal_rows *groups = join->collection_groups;
    const struct sparse_matrix *matrix = join->collection.matrix;
    cog_status status = COG_OK;
    for (size_t g = 0; g < groups->count && status == COG_OK; g++) {
        if (groups->offsets[g + 1] - groups->offsets[g] < 2)
            continue;
        uint32_t row = equal_rows_first(groups, g);
        uint64_t at = matrix->offsets[row];
        size_t count = (size_t)(matrix->offsets[row + 1] - at);
        double dot = sparse_dot(matrix->columns + at, matrix->values + at, count,
                                matrix->columns + at, matrix->values + at, count);
        if (dot >= join->threshold)
            status = equal_rows_match_within(groups, g, dot, matches, error);
    }
    return status;
}

static cog_status group_rows(const struct sparse_matrix *matrix, struct equal_rows *groups,
                             struct cosine_rows *rows, cog_error *error) {
    struct row_bytes source = {matrix->rows, matrix->offsets, matrix->columns, matrix->values,
                               NULL};
    TRY(equal_rows_build(&source, groups, error));
    uint32_t *firsts = memory_array(groups->count + 1, sizeof *firsts);
    if (!firsts)
        return error_memory(error, groups->count * sizeof *firsts, "a cosine join");
    for (size_t g = 0; g < groups->count; g++)
        firsts[g] = equal_rows_first(groups, g);
    *rows = (struct cosine_rows){matrix, firsts, groups->count};
    return COG_OK;
}

static cog_status make_workers(struct cosine_join *join, cog_error *error) {
    uint32_t columns = join->queries.matrix->column_count;
    join->spans = cosine_spans(join->collection.matrix);
    join->workers = memory_zeroed_array(join->threads, sizeof *join->workers);
    bool enough = join->spans && join->workers;
    for (unsigned i = 0; enough && i < join->threads; i++)
        enough = cosine_probe_create(&join->workers[i].probe, join->spans, columns, BLOCK_ROWS);
    return enough
               ? COG_OK
               : error_memory(error, join->threads * cosine_probe_memory_bytes(columns, BLOCK_ROWS),
                              "a cosine join");
}

static cog_status run_join(struct cosine_join *join, const struct join_options *options,
                           struct match_list *matches, cog_error *error) {
    struct cosine_extent collection = cosine_extent(join->collection.matrix);
    join->query_extent = cosine_extent(join->queries.matrix);
    join->threshold = options->threshold;
    join->rests = options->rests;
    join->threads = threads_resolve(options->threads);
    join->filter_threshold =
        (float)(options->threshold - cosine_float_error(join->query_extent, collection));
    cog_status status = make_workers(join, error);
    for (unsigned i = 0; i < join->threads && status == COG_OK; i++)
        match_list_share(&join->workers[i].part.matches, options->max_matches, &join->listed);
    if (status == COG_OK && join->query_extent.length > 0 && collection.length > 0)
        status = run_cheaper(join, error);
    if (status == COG_OK && join->self)
        status = match_within_groups(join, &join->workers[0].part.matches, error);
    for (unsigned i = 0; i < join->threads && status == COG_OK; i++)
        status = join_collect(&join->workers[i].part, options, matches, error);
    match_list_sort(matches);
    return status;
}

static void free_join(struct cosine_join *join) {
    for (unsigned i = 0; join->workers && i < join->threads; i++) {
        cosine_probe_free(&join->workers[i].probe);
        match_list_free(&join->workers[i].part.matches);
    }
    free(join->workers);
    free(join->spans);
    free(join->query_lengths);
    cosine_index_free(&join->index);
    cosine_heads_free(&join->heads);
    free((void *)join->queries.rows);
    if (!join->self)
        free((void *)join->collection.rows);
    equal_rows_free(&join->groups[0]);
    equal_rows_free(&join->groups[1]);
}

cog_status cosine_join(const struct sparse_matrix *a, const struct sparse_matrix *b,
                       const struct join_options *options, struct match_list *matches,
                       cog_error *error) {
    struct cosine_join join = {.self = b == NULL};
    if (b && a->column_count != b->column_count)
        return error_set(error, COG_ERR_USAGE,
                         "rows of %u and of %u columns cannot be joined: number both sides' terms "
                         "together",
                         a->column_count, b->column_count);
    join.query_groups = &join.groups[0];
    join.collection_groups = &join.groups[b ? 1 : 0];
    cog_status status = join_start(options, error);
    THEN(status, group_rows(a, &join.groups[0], &join.queries, error));
    if (status == COG_OK && b)
        status = group_rows(b, &join.groups[1], &join.collection, error);
    else
        join.collection = join.queries;
    THEN(status, run_join(&join, options, matches, error));
    free_join(&join);
    if (status != COG_OK)
        match_list_free(matches);
    return status;
}

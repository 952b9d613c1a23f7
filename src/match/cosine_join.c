#include "match/cosine_join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "match/cosine_bounds.h"
#include "match/cosine_probe.h"
#include "match/cosine_tiles.h"
#include "match/equal_rows.h"

/* A block's accumulators stay in the second-level cache; its index is built on the way. */
enum { BLOCK_ROWS = 8192, BLOCK_ENTRIES = 1 << 22, QUERY_GRAIN = 64, SAMPLE = 128 };

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
    float rest_cosine;
    size_t block_begin, block_end;
    struct cosine_index index;
    float *query_lengths; /* x(c) at each entry of the queries' matrix, times rest_cosine */
    uint8_t *spans;
    struct worker *workers;
    unsigned threads;
};

static struct cosine_query query_at(const struct cosine_join *join, size_t position) {
    const struct sparse_matrix *matrix = join->queries.matrix;
    uint32_t row = join->queries.rows[position];
    uint64_t at = matrix->offsets[row];
    return (struct cosine_query){matrix->columns + at, matrix->values + at,
                                 join->query_lengths + at, (size_t)(matrix->offsets[row + 1] - at)};
}

/* Decides by the true product, with the query loaded. */
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

static cog_status run_query(const struct cosine_join *join, struct worker *worker, size_t position,
                            cog_error *error) {
    struct cosine_query query = query_at(join, position);
    uint32_t first = 0;
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

static cog_status make_index(struct cosine_join *join, cog_error *error) {
    size_t most_entries = 0, entries;
    for (size_t begin = 0; begin < join->collection.count;) {
        begin = block_end(&join->collection, begin, &entries);
        most_entries = entries > most_entries ? entries : most_entries;
    }
    return cosine_index_create(&join->index, join->collection.matrix->column_count, BLOCK_ROWS,
                               most_entries, error);
}

static void index_block(struct cosine_join *join, size_t begin, float longest_query) {
    size_t entries;
    join->block_begin = begin;
    join->block_end = block_end(&join->collection, begin, &entries);
    cosine_index_build(&join->index, join->collection.matrix, join->collection.rows + begin,
                       join->block_end - begin, join->filter_threshold / longest_query);
}

/* Whether filtering is cheaper than computing all products: a sample of queries goes through the
 * first block. Costs in ns, measured: 2 a posting and 40 a row met; 1 for each product of the
 * tiles, and 0.055 for each term of the query. */
static bool filters_pay(struct cosine_join *join) {
    struct join_work work = {0};
    double terms = 0;
    size_t sample = join->queries.count < SAMPLE ? join->queries.count : SAMPLE;
    for (size_t i = 0; i < sample; i++) {
        struct cosine_query query = query_at(join, i * (join->queries.count / sample));
        struct cosine_probe *probe = &join->workers[0].probe;
        if (cosine_probe_run(probe, &join->index, &query, join->filter_threshold, 0, &work) > 0)
            cosine_probe_unload(probe, &query);
        terms += (double)query.count;
    }
    return 2 * (double)work.postings + 40 * (double)work.candidates <
           ((double)sample + 0.055 * terms) * (double)(join->block_end - join->block_begin);
}

static cog_status join_tile(void *context, unsigned number, const struct cosine_tile *tile,
                            cog_error *error) {
    struct cosine_join *join = context;
    struct worker *worker = &join->workers[number];
    cog_status status = COG_OK;
    for (size_t q = 0; q < tile->query_count; q++) {
        size_t position = tile->query_begin + q, from = 0;
        const float *values = tile->values + q * tile->stride;
        struct cosine_query query = query_at(join, position);
        bool loaded = false;
        if (join->self && position >= tile->row_begin)
            from = position + 1 - tile->row_begin;
        for (size_t i = from; i < tile->row_count && status == COG_OK; i++) {
            if (values[i] < join->filter_threshold)
                continue;
            if (!loaded)
                cosine_probe_load(&worker->probe, &query);
            loaded = true;
            status = verify(join, worker, position, tile->row_begin + i, error);
        }
        if (loaded)
            cosine_probe_unload(&worker->probe, &query);
        worker->part.work.candidates += from < tile->row_count ? tile->row_count - from : 0;
    }
    return status;
}

static cog_status run_tiles(struct cosine_join *join, cog_error *error) {
    struct cosine_tiling tiling = {.queries = join->queries,
                                   .collection = join->collection,
                                   .later_only = join->self,
                                   .threads = join->threads,
                                   .work = join_tile,
                                   .context = join};
    return cosine_tiles_run(&tiling, error);
}

static cog_status run_blocks(struct cosine_join *join, float longest_query, cog_error *error) {
    cog_status status = make_index(join, error);
    if (status != COG_OK)
        return status;
    index_block(join, 0, longest_query);
    if (!filters_pay(join)) {
        cosine_index_free(&join->index);
        return run_tiles(join, error);
    }
    for (size_t begin = 0; begin < join->collection.count && status == COG_OK;
         begin = join->block_end) {
        if (begin > 0)
            index_block(join, begin, longest_query);
        size_t queries = join->self ? join->block_end : join->queries.count;
        status = parallel_for(join->threads, queries, QUERY_GRAIN, run_queries, join, error);
    }
    return status;
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
    cog_status status = equal_rows_build(&source, groups, error);
    if (status != COG_OK)
        return status;
    uint32_t *firsts = memory_array(groups->count + 1, sizeof *firsts);
    if (!firsts)
        return error_memory(error, groups->count * sizeof *firsts, "a cosine join");
    for (size_t g = 0; g < groups->count; g++)
        firsts[g] = equal_rows_first(groups, g);
    *rows = (struct cosine_rows){matrix, firsts, groups->count};
    return COG_OK;
}

static cog_status make_workers(struct cosine_join *join, cog_error *error) {
    const struct sparse_matrix *queries = join->queries.matrix;
    uint32_t columns = queries->column_count;
    uint64_t entries = queries->offsets[queries->rows];
    join->spans = cosine_spans(join->collection.matrix);
    join->query_lengths = memory_array((size_t)entries + 1, sizeof *join->query_lengths);
    join->workers = memory_zeroed_array(join->threads, sizeof *join->workers);
    bool enough = join->spans && join->query_lengths && join->workers;
    for (unsigned i = 0; enough && i < join->threads; i++)
        enough = cosine_probe_create(&join->workers[i].probe, join->spans, columns, BLOCK_ROWS);
    if (!enough)
        return error_memory(error,
                            (size_t)entries * sizeof(float) +
                                join->threads * cosine_probe_memory_bytes(columns, BLOCK_ROWS),
                            "a cosine join");
    cosine_rest_lengths(queries, join->query_lengths);
    for (uint64_t i = 0; i < entries && join->rest_cosine < 1; i++)
        join->query_lengths[i] *= join->rest_cosine;
    return COG_OK;
}

static cog_status run_join(struct cosine_join *join, const struct join_options *options,
                           struct match_list *matches, cog_error *error) {
    struct cosine_extent queries = cosine_extent(join->queries.matrix);
    struct cosine_extent collection = cosine_extent(join->collection.matrix);
    join->threshold = options->threshold;
    join->rest_cosine = options->rest_cosine > 0 ? (float)options->rest_cosine : 1;
    join->threads = threads_resolve(options->threads);
    join->filter_threshold = (float)(options->threshold - cosine_float_error(queries, collection));
    cog_status status = make_workers(join, error);
    for (unsigned i = 0; i < join->threads && status == COG_OK; i++)
        match_list_share(&join->workers[i].part.matches, options->max_matches, &join->listed);
    if (status == COG_OK && queries.length > 0 && collection.length > 0)
        status = run_blocks(join, queries.length * join->rest_cosine, error);
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
    free((void *)join->queries.rows);
    if (!join->self)
        free((void *)join->collection.rows);
    equal_rows_free(&join->groups[0]);
    equal_rows_free(&join->groups[1]);
}

static cog_status join_matrices(const struct sparse_matrix *a, const struct sparse_matrix *b,
                                const struct join_options *options, struct match_list *matches,
                                cog_error *error) {
    struct cosine_join join = {.self = b == NULL};
    join.query_groups = &join.groups[0];
    join.collection_groups = &join.groups[b ? 1 : 0];
    cog_status status = join_start(options, error);
    if (status == COG_OK)
        status = group_rows(a, &join.groups[0], &join.queries, error);
    if (status == COG_OK && b)
        status = group_rows(b, &join.groups[1], &join.collection, error);
    else
        join.collection = join.queries;
    if (status == COG_OK)
        status = run_join(&join, options, matches, error);
    free_join(&join);
    if (status != COG_OK)
        match_list_free(matches);
    return status;
}

cog_status cosine_join_self(const struct sparse_matrix *matrix, const struct join_options *options,
                            struct match_list *matches, cog_error *error) {
    return join_matrices(matrix, NULL, options, matches, error);
}

cog_status cosine_join_cross(const struct sparse_matrix *a, const struct sparse_matrix *b,
                             const struct join_options *options, struct match_list *matches,
                             cog_error *error) {
    if (a->column_count != b->column_count)
        return error_set(error, COG_ERR_USAGE,
                         "rows of %u and of %u columns cannot be joined: number both sides' terms "
                         "together",
                         a->column_count, b->column_count);
    return join_matrices(a, b, options, matches, error);
}

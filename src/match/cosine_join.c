#include "match/cosine_join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "match/cosine_index.h"
#include "match/equal_rows.h"

/* A block's accumulators stay in the second-level cache; its index is built on the way. */
enum { BLOCK_ROWS = 8192, BLOCK_ENTRIES = 1 << 22, QUERY_GRAIN = 64 };

/* What a query knows of a row of the block: the products so far, and a bound on what is still to
 * come, which is above zero from the first product on. */
struct accumulator {
    float sum, rest;
};

struct worker {
    struct accumulator *accumulators; /* a row of the block; zero between queries */
    uint32_t *met;                    /* rows of the block in the order of their first product */
    float *dense;                     /* the query by column; zero between queries */
    float *lengths;                   /* of the query, from each entry on */
    struct join_part part;
};

struct cosine_join {
    const struct sparse_matrix *queries, *collection; /* the same for a self-join */
    const struct equal_rows *query_groups, *groups;
    uint32_t *firsts; /* first row of each group of the collection */
    bool self;
    double threshold;
    float filter_threshold; /* lowered by the slack of float sums */
    float longest_query;
    size_t block_begin, block_end; /* groups of the collection */
    struct cosine_index index;
    struct worker *workers;
    unsigned threads;
};

struct query {
    size_t group;
    const uint32_t *columns;
    const float *values;
    size_t count;
};

/* The longest rows of a matrix, by entries and by L2 norm. */
struct extent {
    size_t count;
    float length;
};

static struct extent matrix_extent(const struct sparse_matrix *matrix) {
    struct extent extent = {0, 0};
    for (size_t r = 0; r < matrix->rows; r++) {
        size_t count = (size_t)(matrix->offsets[r + 1] - matrix->offsets[r]);
        float length = cosine_length(matrix->values + matrix->offsets[r], count);
        extent.count = count > extent.count ? count : extent.count;
        extent.length = length > extent.length ? length : extent.length;
    }
    return extent;
}

/* A sum of n products of floats is off by at most (n + 1) * 2^-24 * |x| |y|, because the sum of
 * |x_i y_i| is at most |x| |y|. Twice that, and a little for the products of two rounded factors,
 * is taken off the threshold before any filter sees it. */
static float filter_threshold(double threshold, struct extent x, struct extent y) {
    size_t count = x.count < y.count ? x.count : y.count;
    return (float)(threshold -
                   ((double)count + 16) * 0x1p-23 * (double)x.length * (double)y.length);
}

/* Meets the rows of the block; returns how many. */
static size_t meet(const struct cosine_join *join, struct worker *worker,
                   const struct query *query) {
    const struct cosine_index *index = &join->index;
    struct accumulator *accumulators = worker->accumulators;
    size_t met = 0;
    for (size_t i = 0; i < query->count; i++) {
        float length = worker->lengths[i], after = worker->lengths[i + 1];
        if (length * index->longest < join->filter_threshold)
            break;
        float needed = join->filter_threshold / length, value = query->values[i];
        uint32_t column = query->columns[i];
        const struct cosine_posting *begin = index->postings + index->starts[column];
        const struct cosine_posting *end = index->postings + index->starts[column + 1];
        const struct cosine_posting *p = begin;
        for (; p < end && p->before >= needed; p++) {
            struct accumulator *accumulator = &accumulators[p->row];
            worker->met[met] = p->row;
            met += accumulator->rest == 0;
            accumulator->sum += value * p->value;
            accumulator->rest = after * p->after + 0x1p-40f;
        }
        worker->part.work.postings += (uint64_t)(p - begin);
    }
    return met;
}

/* The same value as sparse_dot: the products of columns that only one row has are zeros, and adding
 * zero changes nothing. */
static double dense_dot(const float *dense, const uint32_t *columns, const float *values,
                        size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)dense[columns[i]] * (double)values[i];
    return sum;
}

static cog_status verify(const struct cosine_join *join, struct worker *worker,
                         const struct query *query, size_t group, cog_error *error) {
    const struct sparse_matrix *matrix = join->collection;
    uint64_t begin = matrix->offsets[join->firsts[group]];
    size_t count = (size_t)(matrix->offsets[join->firsts[group] + 1] - begin);
    double dot = dense_dot(worker->dense, matrix->columns + begin, matrix->values + begin, count);
    worker->part.work.verified++;
    if (!(dot >= join->threshold))
        return COG_OK;
    return equal_rows_match(join->query_groups, query->group, join->groups, group, join->self, dot,
                            &worker->part.matches, error);
}

static cog_status run_query(const struct cosine_join *join, struct worker *worker,
                            const struct query *query, cog_error *error) {
    size_t met = meet(join, worker, query), kept = 0;
    for (size_t i = 0; i < met; i++) {
        uint32_t row = worker->met[i];
        struct accumulator *accumulator = &worker->accumulators[row];
        bool later = !join->self || join->block_begin + row > query->group;
        worker->part.work.candidates += later;
        worker->met[kept] = row;
        kept += later && accumulator->sum + accumulator->rest >= join->filter_threshold;
        *accumulator = (struct accumulator){0, 0};
    }
    if (kept == 0)
        return COG_OK;
    for (size_t i = 0; i < query->count; i++)
        worker->dense[query->columns[i]] = query->values[i];
    cog_status status = COG_OK;
    for (size_t i = 0; i < kept && status == COG_OK; i++)
        status = verify(join, worker, query, join->block_begin + worker->met[i], error);
    for (size_t i = 0; i < query->count; i++)
        worker->dense[query->columns[i]] = 0;
    return status;
}

static cog_status run_queries(void *context, unsigned number, size_t begin, size_t end,
                              cog_error *error) {
    struct cosine_join *join = context;
    struct worker *worker = &join->workers[number];
    cog_status status = COG_OK;
    for (size_t group = begin; group < end && status == COG_OK; group++) {
        uint32_t row = equal_rows_first(join->query_groups, group);
        uint64_t at = join->queries->offsets[row];
        struct query query = {.group = group,
                              .columns = join->queries->columns + at,
                              .values = join->queries->values + at,
                              .count = (size_t)(join->queries->offsets[row + 1] - at)};
        cosine_rest_lengths(query.values, query.count, worker->lengths);
        status = run_query(join, worker, &query, error);
    }
    return status;
}

/* Rows of a group have no columns of their own, so their similarity is the square of their length.
 */
static cog_status match_within_groups(struct cosine_join *join, struct match_list *matches,
                                      cog_error *error) {
    const struct sparse_matrix *matrix = join->collection;
    cog_status status = COG_OK;
    for (size_t g = 0; g < join->groups->count && status == COG_OK; g++) {
        if (join->groups->offsets[g + 1] - join->groups->offsets[g] < 2)
            continue;
        uint64_t at = matrix->offsets[join->firsts[g]];
        size_t count = (size_t)(matrix->offsets[join->firsts[g] + 1] - at);
        double dot = sparse_dot(matrix->columns + at, matrix->values + at, count,
                                matrix->columns + at, matrix->values + at, count);
        if (dot >= join->threshold)
            status = equal_rows_match_within(join->groups, g, dot, matches, error);
    }
    return status;
}

static size_t block_end(const struct cosine_join *join, size_t begin) {
    const uint64_t *offsets = join->collection->offsets;
    size_t end = begin;
    uint64_t entries = 0;
    while (end < join->groups->count && end - begin < BLOCK_ROWS && entries < BLOCK_ENTRIES) {
        entries += offsets[join->firsts[end] + 1] - offsets[join->firsts[end]];
        end++;
    }
    return end;
}

static cog_status run_blocks(struct cosine_join *join, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t begin = 0; begin < join->groups->count && status == COG_OK;
         begin = join->block_end) {
        join->block_begin = begin;
        join->block_end = block_end(join, begin);
        status = cosine_index_build(&join->index, join->collection, join->firsts + begin,
                                    join->block_end - begin,
                                    join->filter_threshold / join->longest_query, error);
        size_t queries = join->self ? join->block_end : join->query_groups->count;
        if (status == COG_OK)
            status = parallel_for(join->threads, queries, QUERY_GRAIN, run_queries, join, error);
    }
    return status;
}

static void free_workers(struct cosine_join *join) {
    for (unsigned i = 0; join->workers && i < join->threads; i++) {
        struct worker *worker = &join->workers[i];
        free(worker->accumulators);
        free(worker->met);
        free(worker->dense);
        free(worker->lengths);
        match_list_free(&worker->part.matches);
    }
    free(join->workers);
}

static size_t worker_memory_bytes(size_t columns, size_t block_rows, size_t longest_query) {
    return sizeof(struct worker) + block_rows * (sizeof(struct accumulator) + sizeof(uint32_t)) +
           (columns + longest_query + 1) * sizeof(float);
}

static cog_status make_workers(struct cosine_join *join, size_t longest_query, cog_error *error) {
    size_t columns = join->queries->column_count;
    join->workers = memory_zeroed_array(join->threads, sizeof *join->workers);
    bool enough = join->workers != NULL;
    for (unsigned i = 0; enough && i < join->threads; i++) {
        struct worker *worker = &join->workers[i];
        worker->accumulators = memory_zeroed_array(BLOCK_ROWS, sizeof *worker->accumulators);
        worker->met = memory_array(BLOCK_ROWS + 1, sizeof *worker->met);
        worker->dense = memory_zeroed_array(columns + 1, sizeof *worker->dense);
        worker->lengths = memory_array(longest_query + 1, sizeof *worker->lengths);
        enough = worker->accumulators && worker->met && worker->dense && worker->lengths;
    }
    return enough
               ? COG_OK
               : error_memory(
                     error, join->threads * worker_memory_bytes(columns, BLOCK_ROWS, longest_query),
                     "a cosine join");
}

static cog_status group_rows(const struct sparse_matrix *matrix, struct equal_rows *groups,
                             cog_error *error) {
    struct row_bytes source = {matrix->rows, matrix->offsets, matrix->columns, matrix->values,
                               NULL};
    return equal_rows_build(&source, groups, error);
}

static cog_status run_join(struct cosine_join *join, const struct join_options *options,
                           struct match_list *matches, cog_error *error) {
    struct extent queries = matrix_extent(join->queries);
    struct extent collection = join->self ? queries : matrix_extent(join->collection);
    join->threshold = options->threshold;
    join->threads = threads_resolve(options->threads);
    join->filter_threshold = filter_threshold(options->threshold, queries, collection);
    join->longest_query = queries.length;
    join->firsts = memory_array(join->groups->count + 1, sizeof *join->firsts);
    if (!join->firsts)
        return error_memory(error, join->groups->count * sizeof *join->firsts, "a cosine join");
    for (size_t g = 0; g < join->groups->count; g++)
        join->firsts[g] = equal_rows_first(join->groups, g);
    cog_status status = make_workers(join, queries.count, error);
    if (status == COG_OK && queries.length > 0)
        status = run_blocks(join, error);
    if (status == COG_OK && join->self)
        status = match_within_groups(join, &join->workers[0].part.matches, error);
    for (unsigned i = 0; i < join->threads && status == COG_OK; i++)
        status = join_collect(&join->workers[i].part, options, matches, error);
    match_list_sort(matches);
    return status;
}

static cog_status join_matrices(const struct sparse_matrix *a, const struct sparse_matrix *b,
                                bool self, const struct join_options *options,
                                struct match_list *matches, cog_error *error) {
    struct equal_rows groups[2] = {{0}, {0}};
    struct cosine_join join = {.queries = a, .collection = b, .self = self};
    join.query_groups = &groups[0];
    join.groups = &groups[self ? 0 : 1];
    cog_status status = join_start(options, error);
    if (status == COG_OK)
        status = group_rows(a, &groups[0], error);
    if (status == COG_OK && !self)
        status = group_rows(b, &groups[1], error);
    if (status == COG_OK)
        status = run_join(&join, options, matches, error);
    free_workers(&join);
    cosine_index_free(&join.index);
    free(join.firsts);
    equal_rows_free(&groups[0]);
    equal_rows_free(&groups[1]);
    if (status != COG_OK)
        match_list_free(matches);
    return status;
}

cog_status cosine_join_self(const struct sparse_matrix *matrix, const struct join_options *options,
                            struct match_list *matches, cog_error *error) {
    return join_matrices(matrix, matrix, true, options, matches, error);
}

cog_status cosine_join_cross(const struct sparse_matrix *a, const struct sparse_matrix *b,
                             const struct join_options *options, struct match_list *matches,
                             cog_error *error) {
    if (a->column_count != b->column_count)
        return error_set(error, COG_ERR_USAGE,
                         "rows of %u and of %u columns cannot be joined: number both sides' terms "
                         "together",
                         a->column_count, b->column_count);
    return join_matrices(a, b, false, options, matches, error);
}

size_t cosine_join_memory_bytes(const struct sparse_matrix *a, const struct sparse_matrix *b,
                                unsigned threads) {
    const struct sparse_matrix *collection = b ? b : a;
    size_t longest_query = matrix_extent(a).count, longest_row = matrix_extent(collection).count;
    size_t entries = BLOCK_ENTRIES + longest_row;
    if (collection->offsets[collection->rows] < entries)
        entries = (size_t)collection->offsets[collection->rows];
    return equal_rows_memory_bytes(a->rows) + (b ? equal_rows_memory_bytes(b->rows) : 0) +
           (collection->rows + 1) * sizeof(uint32_t) +
           cosine_index_memory_bytes(a->column_count, entries, longest_row) +
           threads_resolve(threads) *
               worker_memory_bytes(a->column_count, BLOCK_ROWS, longest_query);
}

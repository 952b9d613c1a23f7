#include "match/cosine_join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "match/cosine_index.h"
#include "match/equal_rows.h"

/* A block's accumulators stay in the second-level cache; its index is built on the way. */
enum { BLOCK_ROWS = 8192, BLOCK_ENTRIES = 1 << 22, QUERY_GRAIN = 64, AHEAD = 8 };

/* Columns are cut into spans of about equally many entries, so that x(c) for any column is found, a
 * little too large, from its span. */
enum { SPANS = 128 };

/* What a query knows of a row of the block: the products so far, and the place of the row's next
 * entry, which is above zero from the first product on. */
struct accumulator {
    float sum;
    uint32_t next;
};

struct worker {
    struct accumulator *accumulators; /* a row of the block; zero between queries */
    uint32_t *met;                    /* rows of the block in the order of their first product */
    float *dense;                     /* the query by column; zero between queries */
    float *lengths;                   /* x(c) at each entry of the query */
    float span_lengths[SPANS + 1];    /* x(c) at the first column of each span */
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
    uint8_t *spans; /* of a column */
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
        float length = worker->lengths[i];
        if (length * index->longest < join->filter_threshold)
            break;
        if (i + AHEAD < query->count)
            __builtin_prefetch(index->postings + index->starts[query->columns[i + AHEAD]]);
        float needed = join->filter_threshold / length, value = query->values[i];
        uint32_t column = query->columns[i];
        const struct cosine_posting *begin = index->postings + index->starts[column];
        const struct cosine_posting *end = index->postings + index->starts[column + 1];
        const struct cosine_posting *p = begin;
        for (; p < end && p->length >= needed; p++) {
            struct accumulator *accumulator = &accumulators[p->row];
            worker->met[met] = p->row;
            met += accumulator->next == 0;
            accumulator->sum += value * p->value;
            accumulator->next = p->next;
        }
        worker->part.work.postings += (uint64_t)(p - begin);
    }
    return met;
}

/* Goes on from what the lists gave until the bound falls below the threshold. */
static bool may_reach(const struct cosine_join *join, const struct worker *worker, uint32_t row,
                      struct accumulator so_far) {
    enum { RUN = 8 };
    const struct cosine_entry *end = join->index.entries + join->index.row_starts[row + 1];
    const struct cosine_entry *e = join->index.entries + join->index.row_starts[row] + so_far.next;
    const float *dense = worker->dense;
    float sum = so_far.sum;
    while (e < end) {
        float rest = worker->span_lengths[join->spans[e->column]] * e->length;
        if (sum + rest < join->filter_threshold)
            return false;
        if (end - e < RUN) {
            for (; e < end; e++)
                sum += dense[e->column] * e->value;
            break;
        }
        float even = 0, odd = 0;
        for (int i = 0; i < RUN; i += 2) {
            even += dense[e[i].column] * e[i].value;
            odd += dense[e[i + 1].column] * e[i + 1].value;
        }
        sum += even + odd;
        e += RUN;
    }
    return sum >= join->filter_threshold;
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

static void spread_query(const struct cosine_join *join, struct worker *worker,
                         const struct query *query) {
    int span = 0;
    for (size_t i = 0; i < query->count; i++) {
        worker->dense[query->columns[i]] = query->values[i];
        for (; span <= join->spans[query->columns[i]]; span++)
            worker->span_lengths[span] = worker->lengths[i];
    }
    for (; span <= SPANS; span++)
        worker->span_lengths[span] = 0;
}

/* The entries that may_reach will read first: it gives up after some twenty on average. */
static void prefetch_rest(const struct cosine_join *join, const struct worker *worker,
                          uint32_t row) {
    const char *from = (const char *)(join->index.entries + join->index.row_starts[row] +
                                      worker->accumulators[row].next);
    for (int line = 0; line < 4; line++)
        __builtin_prefetch(from + 64 * line);
}

/* In a self-join the earlier rows of the query's own block are met as well, in vain. */
static size_t keep_later(const struct cosine_join *join, struct worker *worker, size_t met,
                         size_t group) {
    size_t kept = 0;
    for (size_t i = 0; i < met; i++) {
        uint32_t row = worker->met[i];
        bool later = join->block_begin + row > group;
        worker->met[kept] = row;
        kept += later;
        if (!later)
            worker->accumulators[row] = (struct accumulator){0, 0};
    }
    return kept;
}

static cog_status run_query(const struct cosine_join *join, struct worker *worker,
                            const struct query *query, cog_error *error) {
    size_t met = meet(join, worker, query);
    if (join->self && query->group >= join->block_begin)
        met = keep_later(join, worker, met, query->group);
    worker->part.work.candidates += met;
    if (met == 0)
        return COG_OK;
    spread_query(join, worker, query);
    cog_status status = COG_OK;
    for (size_t i = 0; i < met; i++) {
        if (i + AHEAD < met)
            prefetch_rest(join, worker, worker->met[i + AHEAD]);
        uint32_t row = worker->met[i];
        struct accumulator so_far = worker->accumulators[row];
        worker->accumulators[row] = (struct accumulator){0, 0};
        if (status == COG_OK && may_reach(join, worker, row, so_far))
            status = verify(join, worker, query, join->block_begin + row, error);
    }
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

static size_t block_end(const struct cosine_join *join, size_t begin, size_t *entries) {
    const uint64_t *offsets = join->collection->offsets;
    size_t end = begin;
    *entries = 0;
    while (end < join->groups->count && end - begin < BLOCK_ROWS && *entries < BLOCK_ENTRIES) {
        *entries += (size_t)(offsets[join->firsts[end] + 1] - offsets[join->firsts[end]]);
        end++;
    }
    return end;
}

static cog_status make_index(struct cosine_join *join, cog_error *error) {
    size_t most_entries = 0, entries;
    for (size_t begin = 0; begin < join->groups->count;) {
        begin = block_end(join, begin, &entries);
        most_entries = entries > most_entries ? entries : most_entries;
    }
    return cosine_index_create(&join->index, join->collection->column_count, BLOCK_ROWS,
                               most_entries, error);
}

static cog_status run_blocks(struct cosine_join *join, cog_error *error) {
    cog_status status = make_index(join, error);
    float least = join->filter_threshold / join->longest_query;
    for (size_t begin = 0; begin < join->groups->count && status == COG_OK;
         begin = join->block_end) {
        size_t entries;
        join->block_begin = begin;
        join->block_end = block_end(join, begin, &entries);
        cosine_index_build(&join->index, join->collection, join->firsts + begin,
                           join->block_end - begin, least);
        size_t queries = join->self ? join->block_end : join->query_groups->count;
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

static cog_status make_spans(struct cosine_join *join, cog_error *error) {
    const struct sparse_matrix *matrix = join->collection;
    uint64_t entries = matrix->offsets[matrix->rows], before = 0;
    uint32_t *counts = memory_zeroed_array((size_t)matrix->column_count + 1, sizeof *counts);
    join->spans = memory_array((size_t)matrix->column_count + 1, sizeof *join->spans);
    if (!counts || !join->spans) {
        free(counts);
        return error_memory(error, (size_t)matrix->column_count * 5, "a cosine join");
    }
    for (uint64_t i = 0; i < entries; i++)
        counts[matrix->columns[i]]++;
    for (uint32_t c = 0; c < matrix->column_count; c++) {
        join->spans[c] = (uint8_t)(entries ? before * SPANS / (entries + 1) : 0);
        before += counts[c];
    }
    free(counts);
    return COG_OK;
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
    if (status == COG_OK)
        status = make_spans(join, error);
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
    free(join.spans);
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
           cosine_index_memory_bytes(a->column_count, BLOCK_ROWS, entries) +
           (size_t)a->column_count * 5 +
           threads_resolve(threads) *
               worker_memory_bytes(a->column_count, BLOCK_ROWS, longest_query);
}

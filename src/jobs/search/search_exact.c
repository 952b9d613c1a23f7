/* True cosines: of all rows, or of chosen ones. */
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/search/search_task.h"
#include "join/cosine_join.h"
#include "join/cosine_topk.h"
#include "join/cosine_topk.h"

struct exact_search {
    const struct search_task *task;
    const struct sparse_matrix *queries;
};

/* Vectors of a file are checked, once a handle, before anything reads them without looking. */
static cog_status check_vectors(const cog_index *index, size_t part, cog_error *error) {
    const struct segment *segment = &index->parts.segments[part];
    const uint32_t *columns;
    const float *values;
    size_t count;
    if (!index->folder || __atomic_load_n(&index->has_whole_vectors[part], __ATOMIC_RELAXED))
        return COG_OK;
    for (size_t row = 0; row < segment->rows; row++)
        if (!segment_vector(segment, row, &columns, &values, &count))
            return error_set(error, COG_ERR_FORMAT, "%s: the vector of row %zu is damaged",
                             segment->container.path, row);
    __atomic_store_n(&index->has_whole_vectors[part], 1, __ATOMIC_RELAXED);
    return COG_OK;
}

static cog_status find_nearest(const struct exact_search *search,
                               const struct sparse_matrix *vectors, size_t k,
                               struct hit_lists *lists, cog_error *error) {
    struct cosine_neighbours found = {0};
    size_t total = 0, at = 0;
    cog_status status =
        cosine_topk(search->queries, vectors, k, search->task->threads, &found, error);
    for (size_t query = 0; status == COG_OK && query < found.queries; query++)
        total += found.counts[query];
    THEN(status, hit_lists_init(lists, search->queries->rows, total, error));
    for (size_t query = 0; status == COG_OK && query < found.queries; query++) {
        const struct cosine_neighbour *items = found.items + query * found.k;
        for (size_t i = 0; i < found.counts[query]; i++)
            lists->items[at++] = (struct match){
                .a = (uint32_t)query, .b = items[i].row, .similarity = items[i].similarity};
        lists->offsets[query + 1] = at;
    }
    cosine_topk_free(&found);
    return status;
}

struct scan_above {
    double threshold;
    struct match_list *found; /* of each worker */
};

static cog_status take_product(void *context, unsigned worker, size_t query, uint32_t row,
                               double product, cog_error *error) {
    const struct scan_above *scan = context;
    struct match match = {.a = (uint32_t)query, .b = row, .similarity = (float)product};
    return product >= scan->threshold ? match_list_add(&scan->found[worker], match, error) : COG_OK;
}

/* What cosine_join_cross finds, for few queries. */
static cog_status scan_above(const struct sparse_matrix *queries,
                             const struct sparse_matrix *vectors, double threshold,
                             unsigned threads, struct match_list *found, cog_error *error) {
    struct scan_above scan = {threshold, memory_zeroed_array(threads, sizeof *scan.found)};
    if (!scan.found)
        return error_memory(error, threads * sizeof *scan.found, "an exact search");
    cog_status status = cosine_scan(queries, vectors, threads, take_product, &scan, error);
    for (unsigned i = 0; i < threads; i++) {
        THEN(status, match_list_move(found, &scan.found[i], error));
        match_list_free(&scan.found[i]);
    }
    match_list_sort(found);
    free(scan.found);
    return status;
}

static cog_status find_above(const struct exact_search *search, const struct sparse_matrix *vectors,
                             struct hit_lists *lists, cog_error *error) {
    struct match_list found = {0};
    struct join_options options = {.threshold = search->task->options.threshold,
                                   .threads = search->task->threads};
    cog_status status = search->queries->rows <= COSINE_SCAN_QUERIES && options.threshold > 0
                            ? scan_above(search->queries, vectors, options.threshold,
                                         options.threads, &found, error)
                            : cosine_join(search->queries, vectors, &options, &found, error);
    THEN(status, hit_lists_init(lists, search->queries->rows, found.count, error));
    for (size_t i = 0; status == COG_OK && i < found.count; i++) {
        lists->items[i] = found.items[i];
        lists->offsets[found.items[i].a + 1]++;
    }
    for (size_t query = 0; status == COG_OK && query < lists->queries; query++)
        lists->offsets[query + 1] += lists->offsets[query];
    match_list_free(&found);
    return status;
}

static cog_status search_segment(void *context, size_t part, size_t k, struct hit_lists *lists,
                                 cog_error *error) {
    const struct exact_search *search = context;
    const struct sparse_matrix *vectors = &search->task->index->parts.segments[part].vectors;
    TRY(check_vectors(search->task->index, part, error));
    return k ? find_nearest(search, vectors, k, lists, error)
             : find_above(search, vectors, lists, error);
}

cog_status search_exact(const struct search_task *task, const struct sparse_matrix *queries,
                        size_t k, struct hit_lists *lists, cog_error *error) {
    struct exact_search search = {task, queries};
    return hit_lists_search(task->index, queries->rows, k, HITS_BY_SIMILARITY, search_segment,
                            &search, lists, error);
}

/* ---- Chosen rows ----------------------------------------------------------------------------- */

cog_status query_spread_init(struct query_spread *spread, const struct sparse_matrix *queries,
                             cog_error *error) {
    *spread = (struct query_spread){.queries = queries, .query = SIZE_MAX};
    spread->values = memory_zeroed_array((size_t)queries->column_count + 1, sizeof(float));
    return spread->values ? COG_OK
                          : error_memory(error, queries->column_count * sizeof(float), "a query");
}

static void fill_spread(struct query_spread *spread, size_t query, bool clear) {
    const struct sparse_matrix *queries = spread->queries;
    for (uint64_t i = queries->offsets[query]; i < queries->offsets[query + 1]; i++)
        spread->values[queries->columns[i]] = clear ? 0 : queries->values[i];
}

void query_spread_set(struct query_spread *spread, size_t query) {
    if (spread->query != SIZE_MAX)
        fill_spread(spread, spread->query, true);
    fill_spread(spread, query, false);
    spread->query = query;
}

cog_status query_spread_similarity(const struct query_spread *spread, const cog_index *index,
                                   uint32_t row, double *similarity, cog_error *error) {
    uint64_t first_row;
    size_t part = index_part_of(index, row, &first_row), count;
    const uint32_t *columns;
    const float *values;
    if (!index_row_vector(index, part, (uint32_t)(row - first_row), &columns, &values, &count))
        return error_set(error, COG_ERR_FORMAT, "%s: the vector of row %llu is damaged",
                         index->parts.segments[part].container.path,
                         (unsigned long long)(row - first_row));
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)spread->values[columns[i]] * (double)values[i];
    *similarity = sum;
    return COG_OK;
}

#include "join/cosine/cosine_topk.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "join/cosine/cosine_tiles.h"

/* ---- A few queries ----------------------------------------------------------------------------
 */

enum { ROWS_AT_A_TIME = 1024 };

struct scan {
    const struct sparse_matrix *queries, *collection;
    float *dense; /* one query by column for each worker; zero in between */
    cosine_scan_work *work;
    void *context;
};

static cog_status scan_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    const struct scan *scan = context;
    float *dense = scan->dense + (size_t)worker * scan->collection->column_count;
    cog_status status = COG_OK;
    for (size_t query = 0; query < scan->queries->rows && status == COG_OK; query++) {
        sparse_spread(scan->queries, query, dense);
        for (size_t row = begin; row < end && status == COG_OK; row++) {
            double product = sparse_dense_dot(dense, scan->collection, row);
            if (product > 0)
                status = scan->work(scan->context, worker, query, (uint32_t)row, product, error);
        }
        sparse_clear(scan->queries, query, dense);
    }
    return status;
}

cog_status cosine_scan(const struct sparse_matrix *queries, const struct sparse_matrix *collection,
                       unsigned threads, float *kept, cosine_scan_work *work, void *context,
                       cog_error *error) {
    size_t columns = collection->column_count;
    struct scan scan = {.queries = queries,
                        .collection = collection,
                        .dense =
                            kept ? kept : memory_zeroed_array(threads * columns + 1, sizeof(float)),
                        .work = work,
                        .context = context};
    cog_status status =
        scan.dense
            ? parallel_for(threads, collection->rows, ROWS_AT_A_TIME, scan_rows, &scan, error)
            : error_memory(error, threads * columns * sizeof(float), "an exact search");
    if (!kept)
        free(scan.dense);
    return status;
}

/* ---- The nearest ----------------------------------------------------------------------------- */

/* In a scan every worker has its own heaps, too much memory for a large k. */
enum { SCAN_NEIGHBOURS = 4096 };

struct ranked {
    double similarity;
    uint32_t row;
};

struct topk_run {
    const struct sparse_matrix *queries, *collection;
    size_t k;
    float error;          /* bound on the error of a tile's values, rounded up */
    bool zero_is_true;    /* a tile's 0 means a product of 0 */
    size_t heap_sets;     /* 1, or one set of heaps per worker */
    struct ranked *heaps; /* k for each query of a set; the worst is on top */
    uint32_t *counts;
    struct cosine_tiles tiles;
    float *best;  /* in tiles: k per worker, a heap of the largest values of a tile's row */
    float *dense; /* in tiles: one query by column for each worker; zero in between */
    float *kept;  /* in a scan: the same, owned by the caller; or NULL */
};

static bool takes_scan(const struct sparse_matrix *queries, size_t k) {
    return queries->rows <= COSINE_SCAN_QUERIES && k <= SCAN_NEIGHBOURS;
}

static bool worse(struct ranked a, struct ranked b) {
    return a.similarity != b.similarity ? a.similarity < b.similarity : a.row > b.row;
}

/* Replaces the top of a heap (its worst item) by `item`. */
static void sift_ranked(struct ranked *heap, size_t count, struct ranked item) {
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && worse(heap[child + 1], heap[child]))
            child++;
        if (!worse(heap[child], item))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static void insert_ranked(struct ranked *heap, uint32_t *count, size_t k, struct ranked item) {
    if (*count == k) {
        if (worse(heap[0], item))
            sift_ranked(heap, k, item);
        return;
    }
    size_t at = (*count)++;
    while (at > 0 && worse(item, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static void sift_value(float *heap, size_t count, float value) {
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

/* The k-th largest of the values, or `floor` if that is larger. */
static float kth_value(const float *values, size_t count, size_t k, float floor, float *heap) {
    for (size_t i = 0; i < k; i++)
        heap[i] = floor;
    for (size_t i = 0; i < count; i++)
        if (values[i] > heap[0])
            sift_value(heap, k, values[i]);
    return heap[0];
}

/* A row among the k best has a value of at least (k-th largest value of the tile) - 2 * error and
 * of at least (worst of the k found before) - error. Only such rows get their true product. */
static void search_tile(struct topk_run *run, unsigned worker, const struct cosine_tile *tile) {
    float *best = run->best + (size_t)worker * run->k;
    float *dense = run->dense + (size_t)worker * run->collection->column_count;
    const float *values = tile->values;
    struct ranked *heap = run->heaps + tile->query * run->k;
    uint32_t *count = &run->counts[tile->query];
    float margin = 2 * run->error, least = -margin;
    if (*count == run->k && (float)heap[0].similarity - margin > least)
        least = (float)heap[0].similarity - margin;
    least = kth_value(values, tile->row_count, run->k, least + margin, best) - margin;
    bool spread_out = false;
    for (size_t i = 0; i < tile->row_count; i++) {
        if (values[i] < least || (values[i] == 0 && run->zero_is_true))
            continue;
        if (!spread_out)
            sparse_spread(run->queries, tile->query, dense);
        spread_out = true;
        uint32_t row = (uint32_t)(tile->row_begin + i);
        struct ranked item = {sparse_dense_dot(dense, run->collection, row), row};
        if (item.similarity > 0)
            insert_ranked(heap, count, run->k, item);
    }
    if (spread_out)
        sparse_clear(run->queries, tile->query, dense);
}

static cog_status search_tiles(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)error;
    struct topk_run *run = context;
    for (size_t query = begin; query < end; query++) {
        struct cosine_tile tile = cosine_tile(&run->tiles, worker, query);
        search_tile(run, worker, &tile);
    }
    return COG_OK;
}

static cog_status take_product(void *context, unsigned worker, size_t query, uint32_t row,
                               double product, cog_error *error) {
    (void)error;
    struct topk_run *run = context;
    size_t heap = worker * run->queries->rows + query;
    insert_ranked(run->heaps + heap * run->k, &run->counts[heap], run->k,
                  (struct ranked){product, row});
    return COG_OK;
}

/* Merges the heaps of all workers into those of the first. */
static void join_heaps(struct topk_run *run) {
    size_t queries = run->queries->rows;
    for (size_t heap = queries; heap < run->heap_sets * queries; heap++)
        for (size_t i = 0; i < run->counts[heap]; i++)
            insert_ranked(run->heaps + heap % queries * run->k, &run->counts[heap % queries],
                          run->k, run->heaps[heap * run->k + i]);
}

static cog_status search_all_rows(struct topk_run *run, unsigned threads, cog_error *error) {
    cog_status status =
        cosine_scan(run->queries, run->collection, threads, run->kept, take_product, run, error);
    if (status == COG_OK)
        join_heaps(run);
    return status;
}

/* If no value is negative and no product underflows, a sum of zero means that there are no
 * products. */
static bool none_negative_or_tiny(const struct sparse_matrix *matrix) {
    bool none = true;
    for (uint64_t i = 0; i < matrix->offsets[matrix->rows]; i++)
        none &= matrix->values[i] > 1e-15f || matrix->values[i] == 0;
    return none;
}

static int best_first(const void *x, const void *y) {
    const struct ranked *p = x, *q = y;
    return worse(*q, *p) ? -1 : 1;
}

static void sort_heaps(const struct topk_run *run, struct cosine_neighbours *neighbours) {
    for (size_t q = 0; q < neighbours->queries; q++) {
        struct ranked *heap = run->heaps + q * run->k;
        neighbours->counts[q] = run->counts[q];
        qsort(heap, run->counts[q], sizeof *heap, best_first);
        for (size_t i = 0; i < run->counts[q]; i++)
            neighbours->items[q * run->k + i] =
                (struct cosine_neighbour){heap[i].row, (float)heap[i].similarity};
    }
}

static bool make_room(struct topk_run *run, struct cosine_neighbours *neighbours) {
    size_t queries = neighbours->queries, items;
    if (!size_multiply(queries, run->k, &items))
        return false;
    run->heaps = memory_array(run->heap_sets * items + 1, sizeof *run->heaps);
    run->counts = memory_zeroed_array(run->heap_sets * queries + 1, sizeof *run->counts);
    neighbours->counts = memory_array(queries + 1, sizeof *neighbours->counts);
    neighbours->items = memory_array(items + 1, sizeof *neighbours->items);
    return run->heaps && run->counts && neighbours->counts && neighbours->items;
}

static cog_status search_in_tiles(struct topk_run *run, unsigned threads, cog_error *error) {
    double error_bound =
        cosine_float_error(cosine_extent(run->queries), cosine_extent(run->collection));
    run->error = (float)error_bound * 1.001f;
    run->zero_is_true =
        none_negative_or_tiny(run->queries) && none_negative_or_tiny(run->collection);
    size_t columns = run->collection->column_count;
    run->tiles = (struct cosine_tiles){.queries = cosine_rows_all(run->queries),
                                       .collection = cosine_rows_all(run->collection),
                                       .threads = threads};
    run->best = memory_array(threads * run->k + 1, sizeof *run->best);
    run->dense = memory_zeroed_array(threads * columns + 1, sizeof *run->dense);
    cog_status status =
        run->best && run->dense
            ? cosine_tiles_create(&run->tiles, error)
            : error_memory(error, threads * (run->k + columns) * sizeof(float), "an exact search");
    while (cosine_tiles_next(&run->tiles, &status, error))
        status = parallel_for(threads, run->tiles.query_count, COSINE_TILE_GRAIN, search_tiles, run,
                              error);
    cosine_tiles_free(&run->tiles);
    FREE(run->best, run->dense);
    return status;
}

static cog_status find_nearest(const struct sparse_matrix *queries,
                               const struct sparse_matrix *collection, size_t k, unsigned threads,
                               float *kept, struct cosine_neighbours *neighbours,
                               cog_error *error) {
    if (queries->column_count != collection->column_count || k == 0)
        return error_set(error, COG_ERR_USAGE,
                         "search for %zu rows, with %u columns against %u: k must be above 0 and "
                         "the columns the same",
                         k, queries->column_count, collection->column_count);
    k = k < collection->rows ? k : collection->rows + (collection->rows == 0);
    bool are_few = takes_scan(queries, k);
    threads = threads_resolve(threads);
    struct topk_run run = {.queries = queries,
                           .collection = collection,
                           .k = k,
                           .heap_sets = are_few ? threads : 1,
                           .kept = kept};
    *neighbours = (struct cosine_neighbours){.queries = queries->rows, .k = k};
    cog_status status;
    if (!make_room(&run, neighbours))
        status = error_memory(error, cosine_topk_memory_bytes(queries, collection, k, threads),
                              "an exact search");
    else
        status =
            are_few ? search_all_rows(&run, threads, error) : search_in_tiles(&run, threads, error);
    if (status == COG_OK)
        sort_heaps(&run, neighbours);
    else
        cosine_topk_free(neighbours);
    FREE(run.heaps, run.counts);
    return status;
}

cog_status cosine_topk(const struct sparse_matrix *queries, const struct sparse_matrix *collection,
                       size_t k, unsigned threads, struct cosine_neighbours *neighbours,
                       cog_error *error) {
    return find_nearest(queries, collection, k, threads, NULL, neighbours, error);
}

cog_status cosine_topk_kept(const struct sparse_matrix *queries,
                            const struct sparse_matrix *collection, size_t k, float *dense,
                            struct cosine_neighbours *neighbours, cog_error *error) {
    return find_nearest(queries, collection, k, 1, dense, neighbours, error);
}

cog_status cosine_neighbours_take(struct cosine_neighbours *neighbours, size_t queries, size_t k,
                                  cog_error *error) {
    size_t items;
    *neighbours = (struct cosine_neighbours){.queries = queries, .k = k};
    if (!size_multiply(queries, k, &items))
        return error_memory(error, SIZE_MAX, "neighbours");
    TAKE_ZEROED(neighbours->counts, queries, "neighbours", error);
    return TAKEN(neighbours->items, items, "neighbours", error);
}

static bool is_nearer(struct cosine_neighbour a, struct cosine_neighbour b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
}

void cosine_neighbours_offer(struct cosine_neighbours *neighbours, size_t query,
                             struct cosine_neighbour item) {
    struct cosine_neighbour *items = neighbours->items + query * neighbours->k;
    size_t at = neighbours->counts[query];
    if (at == neighbours->k) {
        if (at == 0 || !is_nearer(item, items[at - 1]))
            return;
        at--;
    } else {
        neighbours->counts[query]++;
    }
    for (; at > 0 && is_nearer(item, items[at - 1]); at--)
        items[at] = items[at - 1];
    items[at] = item;
}

void cosine_neighbours_cut(struct cosine_neighbours *neighbours, float least) {
    for (size_t query = 0; query < neighbours->queries; query++) {
        const struct cosine_neighbour *items = neighbours->items + query * neighbours->k;
        uint32_t *count = &neighbours->counts[query];
        while (*count && items[*count - 1].similarity < least)
            --*count;
    }
}

void cosine_topk_free(struct cosine_neighbours *neighbours) {
    FREE(neighbours->counts, neighbours->items);
    *neighbours = (struct cosine_neighbours){0};
}

size_t cosine_topk_memory_bytes(const struct sparse_matrix *queries,
                                const struct sparse_matrix *collection, size_t k,
                                unsigned threads) {
    bool are_few = takes_scan(queries, k);
    threads = threads_resolve(threads);
    size_t heap_bytes = k * sizeof(struct ranked) + sizeof(uint32_t);
    size_t result_bytes = k * sizeof(struct cosine_neighbour) + sizeof(uint32_t);
    size_t dense_bytes = threads * (size_t)collection->column_count * sizeof(float);
    return queries->rows * (heap_bytes * (are_few ? threads : 1) + result_bytes) + dense_bytes +
           (are_few ? 0
                    : threads * k * sizeof(float) + cosine_tiles_memory_bytes(collection, threads));
}

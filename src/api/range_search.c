/* Searches of given ranges of rows: what an index of lists or buckets does once it knows which of
 * them a query probes. The public function. */
#include <stdlib.h>

#include "api/arrow_table.h"
#include "base/arguments.h"
#include "base/memory.h"
#include "base/threads.h"
#include "input/npy.h"
#include "search/hits/hit_lists.h"

enum { SCAN_ROWS = 1024, QUERIES_AT_ONCE = 16 };

/* What one thread has for itself. */
struct range_scratch {
    uint16_t distances[SCAN_ROWS];
    uint32_t positions[SCAN_ROWS];
    struct topk nearest;
    struct neighbour *neighbours; /* of one query */
};

struct range_search {
    const struct signatures_view *queries, *rows;
    const cog_row_ranges *ranges;
    size_t k; /* 0: all within the radius */
    uint32_t radius_bits;
    struct range_scratch *scratch; /* one per worker */
    struct hit_sink sink;
};

static cog_status take_row(struct range_search *search, unsigned worker, size_t query,
                           struct neighbour found, cog_error *error) {
    if (search->k) {
        topk_add(&search->scratch[worker].nearest, found.row, found.distance);
        return COG_OK;
    }
    const struct match hit = {.a = (uint32_t)query, .b = found.row, .distance = found.distance};
    return hit_sink_add(&search->sink, worker, hit, error);
}

/* The greatest distance that rows from `row` on may have. */
static int32_t limit_at(const struct range_search *search, const struct topk *nearest,
                        uint32_t row) {
    const int32_t radius = (int32_t)search->radius_bits;
    const int32_t limit = search->k ? topk_limit(nearest, row) : radius;
    return limit < radius ? limit : radius;
}

static cog_status scan_range(struct range_search *search, unsigned worker, size_t query,
                             uint32_t begin, uint32_t end, cog_error *error) {
    struct range_scratch *scratch = &search->scratch[worker];
    const uint8_t *signature = signature_row(search->queries, query);
    for (size_t row = begin, count; row < end; row += count) {
        count = end - row < SCAN_ROWS ? end - row : SCAN_ROWS;
        const int32_t limit = limit_at(search, &scratch->nearest, (uint32_t)row);
        if (limit < 0)
            continue;
        hamming_scan(search->rows, signature, row, count, scratch->distances);
        size_t found = hamming_kernels()->select(scratch->distances, count, (uint32_t)limit,
                                                 scratch->positions);
        for (size_t i = 0; i < found; i++) {
            const uint32_t at = scratch->positions[i];
            TRY(take_row(search, worker, query,
                         (struct neighbour){(uint32_t)row + at, scratch->distances[at]}, error));
        }
    }
    return COG_OK;
}

static cog_status search_query(struct range_search *search, unsigned worker, size_t query,
                               cog_error *error) {
    const cog_row_ranges *ranges = search->ranges;
    struct range_scratch *scratch = &search->scratch[worker];
    for (uint64_t i = ranges->offsets[query]; i < ranges->offsets[query + 1]; i++)
        TRY(scan_range(search, worker, query, ranges->begins[i], ranges->ends[i], error));
    if (!search->k)
        return COG_OK;
    size_t count = topk_finish(&scratch->nearest, scratch->neighbours);
    for (size_t i = 0; i < count; i++) {
        const struct match hit = {.a = (uint32_t)query,
                                  .b = scratch->neighbours[i].row,
                                  .distance = scratch->neighbours[i].distance};
        TRY(hit_sink_add(&search->sink, worker, hit, error));
    }
    return COG_OK;
}

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    for (size_t query = begin; query < end; query++)
        TRY(search_query(context, worker, query, error));
    return COG_OK;
}

static cog_status export_hits(const struct hit_lists *lists, struct ArrowArrayStream *stream,
                              cog_error *error) {
    struct arrow_table table = {.rows = lists->offsets[lists->queries]};
    arrow_table_hits(&table, lists->items);
    return arrow_table_finish(&table, stream, error);
}

static cog_status check_ranges(const struct range_search *search, cog_error *error) {
    const cog_row_ranges *ranges = search->ranges;
    for (size_t query = 0; query < search->queries->rows; query++) {
        if (ranges->offsets[query] > ranges->offsets[query + 1] ||
            ranges->offsets[query + 1] > ranges->count)
            return error_set(error, COG_ERR_USAGE,
                             "query %zu has the ranges %llu to %llu of %zu: offsets must not fall, "
                             "nor go beyond the ranges",
                             query, (unsigned long long)ranges->offsets[query],
                             (unsigned long long)ranges->offsets[query + 1], ranges->count);
    }
    for (size_t i = 0; i < ranges->count; i++)
        if (ranges->begins[i] > ranges->ends[i] || ranges->ends[i] > search->rows->rows)
            return error_set(error, COG_ERR_USAGE,
                             "range %zu has rows %u to %u of %zu: ranges must lie among the rows",
                             i, ranges->begins[i], ranges->ends[i], search->rows->rows);
    return COG_OK;
}

static cog_status search_all(struct range_search *search, unsigned threads,
                             struct ArrowArrayStream *stream, cog_error *error) {
    struct hit_lists lists = {0};
    const size_t rows = search->rows->rows;
    search->k = search->k < rows ? search->k : rows;
    cog_status status = TAKEN_ZEROED(search->scratch, threads, "a search of ranges", error);
    THEN(status, hit_sink_init(&search->sink, threads, error));
    for (unsigned i = 0; i < threads && search->k && status == COG_OK; i++) {
        status = topk_init(&search->scratch[i].nearest, search->k, search->rows->bits, error);
        THEN(status, TAKEN(search->scratch[i].neighbours, search->k, "neighbours", error));
    }
    THEN(status, parallel_for(threads, search->queries->rows, QUERIES_AT_ONCE, search_piece, search,
                              error));
    THEN(status, hit_sink_finish(&search->sink, search->queries->rows,
                                 search->k ? HITS_AS_ADDED : HITS_BY_DISTANCE, &lists, error));
    THEN(status, export_hits(&lists, stream, error));
    for (unsigned i = 0; i < threads && search->scratch; i++) {
        topk_free(&search->scratch[i].nearest);
        free(search->scratch[i].neighbours);
    }
    free(search->scratch);
    hit_sink_free(&search->sink);
    hit_lists_free(&lists);
    return status;
}

cog_status cog_range_search(const cog_signatures *queries, const cog_signatures *rows,
                            const cog_row_ranges *ranges, size_t k, uint32_t radius_bits,
                            const cog_run_options *run, struct ArrowArrayStream *stream,
                            cog_error *error) {
    TRY(check_given(queries, "queries", error));
    TRY(check_given(rows, "rows", error));
    TRY(check_given(ranges, "ranges", error));
    TRY(check_given(stream, "stream", error));
    TRY(check_given(ranges->offsets, "offsets", error));
    if (ranges->count) {
        TRY(check_given(ranges->begins, "begins", error));
        TRY(check_given(ranges->ends, "ends", error));
    }
    struct range_search search = {
        .queries = &queries->file.view, .rows = &rows->file.view, .ranges = ranges, .k = k};
    const unsigned bits = search.rows->bits;
    TRY(signatures_check(search.queries, search.rows, error));
    if (!k && radius_bits == COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "neither k nor a radius: ask for the k nearest rows, or for all within a "
                         "radius");
    search.radius_bits = radius_bits < bits ? radius_bits : bits;
    TRY(check_ranges(&search, error));
    return search_all(&search, threads_resolve(run ? run->threads : 0), stream, error);
}

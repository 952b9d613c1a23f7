#include "index/psm.h"

#include "base/memory.h"
#include "base/threads.h"
#include "index/query_ring.h"

enum { MATCHES_MAX = 16 /* taken from a bucket at a time */ };

cog_status psm_build(struct psm_index *index, const struct signatures_view *view, unsigned threads,
                     cog_error *error) {
    *index = (struct psm_index){0};
    cog_status status = short_key_check(view, 0, error);
    if (status != COG_OK)
        return status;
    struct key_set set;
    status = key_set_build(&set, view, threads, error);
    if (status != COG_OK)
        return status;
    status = line_table_build(&index->table, &set.keys, view->bits, true, error);
    if (status == COG_OK) {
        index->rows = set.rows;
        set.rows = (struct key_rows){0};
    }
    key_set_free(&set);
    return status;
}

void psm_free(struct psm_index *index) {
    line_table_free(&index->table);
    key_rows_free(&index->rows);
}

/* The volatile bits of a query's header, those above the bound left out. */
static void query_bits(const struct psm_queries *queries, size_t query, unsigned header_bits,
                       uint32_t bound, struct probe_bits *bits) {
    const float *weights = queries->weights + query * queries->signatures.bits;
    uint32_t penalties[PROBE_BITS_MAX];
    for (unsigned i = 0; i < header_bits; i++)
        penalties[i] = volatility_penalty(queries->volatility, weights[i]);
    probe_bits_init(bits, penalties, header_bits, bound);
}

cog_status psm_bound_for_recall(const struct psm_queries *queries, unsigned header_bits,
                                unsigned radius_bits, double recall, size_t sample, uint32_t *bound,
                                cog_error *error) {
    size_t rows = queries->signatures.rows;
    if (sample > rows)
        sample = rows;
    struct probe_recall *expected = memory_zeroed_array(1, sizeof *expected);
    if (!expected)
        return error_memory(error, sizeof *expected, "the expected recall");
    cog_status status = COG_OK;
    for (size_t i = 0; i < sample && status == COG_OK; i++) {
        struct probe_bits bits;
        query_bits(queries, i * (rows / sample), header_bits, PROBE_BOUND_NONE, &bits);
        status = probe_recall_add(expected, &bits, radius_bits, error);
    }
    if (status == COG_OK)
        *bound = probe_recall_bound(expected, recall);
    free(expected);
    return status;
}

/* A query on its way: probed, then scanned, then collected. */
struct query_in_flight {
    short_key key;
    uint32_t query;
    size_t bucket_count, hit_count;
    uint32_t buckets[PSM_PROBES_MAX];
    struct line_hit hits[PSM_PROBES_MAX];
};

struct psm_worker {
    struct query_in_flight ring[QUERY_RING];
    uint64_t masks[PSM_PROBES_MAX];
};

struct psm_job {
    const struct psm_index *index;
    const struct psm_queries *queries;
    const struct psm_search *search;
    const uint32_t *active; /* queries to search, or NULL for all */
    uint32_t bound;
    struct psm_worker *workers;
};

struct psm_piece {
    const struct psm_job *job;
    struct psm_worker *worker;
    struct short_hits *hits;
};

static void start_query(void *context, size_t slot, size_t number) {
    const struct psm_piece *piece = context;
    const struct psm_job *job = piece->job;
    struct psm_worker *worker = piece->worker;
    struct query_in_flight *flight = &worker->ring[slot];
    uint32_t query = job->active ? job->active[number] : (uint32_t)number;
    const struct line_table *table = &job->index->table;
    struct probe_bits bits;
    query_bits(job->queries, query, table->header_bits, job->bound, &bits);
    flight->query = query;
    flight->key = short_key_of_row(&job->queries->signatures, query);
    flight->bucket_count =
        probes_within(&bits, job->search->radius_bits, job->bound, worker->masks, PSM_PROBES_MAX);
    uint32_t header = (uint32_t)short_key_prefix(flight->key, table->header_bits);
    for (size_t i = 0; i < flight->bucket_count; i++) {
        flight->buckets[i] = header ^ (uint32_t)worker->masks[i];
        line_prefetch(table, flight->buckets[i]);
    }
}

static void scan_query(void *context, size_t slot) {
    const struct psm_piece *piece = context;
    const struct psm_job *job = piece->job;
    struct query_in_flight *flight = &piece->worker->ring[slot];
    const struct line_table *table = &job->index->table;
    flight->hit_count =
        table->scan(table, flight->buckets, flight->bucket_count, line_filter(table, flight->key),
                    job->search->radius_bits, flight->hits);
    for (size_t i = 0; i < flight->hit_count; i++) {
        if (flight->hits[i].overflow)
            __builtin_prefetch(table->overflow + flight->hits[i].overflow);
        if (flight->hits[i].slots)
            __builtin_prefetch(table->ranks + flight->hits[i].bucket);
    }
}

static cog_status collect_query(void *context, size_t slot, cog_error *error) {
    const struct psm_piece *piece = context;
    const struct psm_job *job = piece->job;
    const struct query_in_flight *flight = &piece->worker->ring[slot];
    const struct psm_index *index = job->index;
    bool first_only = job->search->first_only;
    for (size_t i = 0; i < flight->hit_count; i++) {
        struct line_match matches[MATCHES_MAX];
        uint32_t next = 0;
        do {
            size_t count =
                line_hit_matches(&index->table, &flight->hits[i], flight->key,
                                 job->search->radius_bits, next, matches, MATCHES_MAX, &next);
            for (size_t m = 0; m < count; m++) {
                size_t position = line_rank(&index->table, matches[m].bucket, matches[m].order);
                struct short_hit hit = {flight->query, (uint32_t)position, matches[m].distance};
                cog_status status = short_hits_add(piece->hits, hit, error);
                if (status != COG_OK || first_only)
                    return status;
            }
        } while (next != 0);
    }
    return COG_OK;
}

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               struct short_hits *hits, cog_error *error) {
    const struct psm_job *job = context;
    struct psm_piece piece = {job, &job->workers[worker], hits};
    size_t before = hits->count;
    cog_status status =
        query_ring_run(&piece, begin, end, start_query, scan_query, collect_query, error);
    if (status == COG_OK) /* so far the hits have positions of keys for rows */
        status = short_hits_expand(hits, before, &job->index->rows, job->search->first_only, error);
    return status;
}

/* Searches `count` queries (those in active, or all) up to a bound. */
static cog_status search_up_to(struct psm_job *job, size_t count, uint32_t bound,
                               struct short_hits *hits, cog_error *error) {
    unsigned threads = threads_resolve(job->search->threads);
    job->bound = bound;
    job->workers = memory_array(threads, sizeof *job->workers);
    if (!job->workers)
        return error_memory(error, threads * sizeof *job->workers, "a search");
    cog_status status = short_hits_gather(hits, threads, count, search_piece, job, error);
    free(job->workers);
    return status;
}

/* The queries of `active` (or 0 .. count - 1) that have no hit from `first_hit` on; hits come in
 * the order of the queries. The result may be `active` itself. */
static size_t without_hits(const uint32_t *active, size_t count, const struct short_hits *hits,
                           size_t first_hit, uint32_t *open) {
    size_t left = 0, next = first_hit;
    for (size_t i = 0; i < count; i++) {
        uint32_t query = active ? active[i] : (uint32_t)i;
        if (next < hits->count && hits->items[next].query == query)
            next++;
        else
            open[left++] = query;
    }
    return left;
}

/* Most hits lie behind the most probable flips: a first round with half the bound, and the rest of
 * the probes only for queries that it leaves without a hit. `open` has room for all queries and
 * receives those that still have none. */
static cog_status search_first(struct psm_job *job, size_t *count, uint32_t *open,
                               struct short_hits *hits, cog_error *error) {
    for (unsigned half = 2; half > 0; half--) {
        size_t before = hits->count;
        cog_status status =
            search_up_to(job, *count, job->search->penalty_bound / half, hits, error);
        if (status != COG_OK)
            return status;
        *count = without_hits(job->active, *count, hits, before, open);
        job->active = open;
    }
    return COG_OK;
}

static cog_status check_queries(const struct psm_queries *queries, const struct psm_search *search,
                                unsigned stored_bits, cog_error *error) {
    cog_status status = short_key_check(&queries->signatures, search->radius_bits, error);
    if (status == COG_OK && queries->signatures.bits != stored_bits)
        return error_set(error, COG_ERR_USAGE,
                         "queries of %u bits do not fit stored signatures of %u bits",
                         queries->signatures.bits, stored_bits);
    return status;
}

cog_status psm_search(const struct psm_index *index, const struct psm_queries *queries,
                      const struct psm_search *search, struct short_hits *hits, cog_error *error) {
    cog_status status = check_queries(queries, search, index->table.key_bits, error);
    if (status != COG_OK)
        return status;
    struct psm_job job = {.index = index, .queries = queries, .search = search};
    size_t count = queries->signatures.rows;
    if (!search->first_only)
        return search_up_to(&job, count, search->penalty_bound, hits, error);
    uint32_t *open = memory_array(count, sizeof *open);
    if (!open)
        return error_memory(error, count * sizeof *open, "the open queries of a search");
    size_t before = hits->count;
    status = search_first(&job, &count, open, hits, error);
    free(open);
    short_hits_sort(hits, before);
    return status;
}

/* Searches one chunk; *count and open say which queries still take part. */
static cog_status search_chunk(const struct signatures_view *chunk, size_t first_row,
                               const struct psm_queries *queries, const struct psm_search *search,
                               size_t *count, uint32_t *open, struct short_hits *hits,
                               cog_error *error) {
    struct psm_index index;
    cog_status status = psm_build(&index, chunk, search->threads, error);
    if (status != COG_OK)
        return status;
    struct psm_job job = {.index = &index, .queries = queries, .search = search, .active = open};
    size_t before = hits->count;
    if (search->first_only)
        status = search_first(&job, count, open, hits, error);
    else
        status = search_up_to(&job, *count, search->penalty_bound, hits, error);
    for (size_t i = before; i < hits->count; i++)
        hits->items[i].row += (uint32_t)first_row;
    psm_free(&index);
    return status;
}

cog_status psm_search_batch(const struct psm_source *source, const struct psm_queries *queries,
                            const struct psm_search *search, struct short_hits *hits,
                            cog_error *error) {
    unsigned bits = queries->signatures.bits;
    cog_status status = check_queries(queries, search, bits, error);
    if (status != COG_OK)
        return status;
    size_t count = queries->signatures.rows, before = hits->count, size_bytes = 0;
    uint32_t *open = memory_array(count, sizeof *open);
    uint8_t *data = NULL;
    if (source->chunk_rows > 0 && size_multiply(source->chunk_rows, bits / 8, &size_bytes))
        data = memory_large(size_bytes);
    if (!open || !data)
        status = error_memory(error, size_bytes, "a chunk of stored signatures");
    for (size_t i = 0; open && i < count; i++)
        open[i] = (uint32_t)i;
    for (size_t first_row = 0, rows = 1; status == COG_OK && count > 0 && rows > 0;
         first_row += rows) {
        status = source->read(source->context, data, source->chunk_rows, &rows, error);
        if (status == COG_OK && first_row + rows > UINT32_MAX)
            status = error_set(error, COG_ERR_USAGE, "more than 2^32 stored signatures");
        struct signatures_view chunk = {data, rows, bits, bits / 8};
        if (status == COG_OK && rows > 0)
            status = search_chunk(&chunk, first_row, queries, search, &count, open, hits, error);
    }
    free(open);
    memory_large_free(data, size_bytes);
    short_hits_sort(hits, before);
    return status;
}

#include "search/psm/psm_search.h"

#include "base/memory.h"
#include "base/threads.h"
#include "search/hits/query_ring.h"
#include "search/probes/header_probes.h"

enum {
    MATCHES_MAX = 16,  /* taken from a bucket at a time */
    RECORD_DELAY = 2,  /* queries between the two fetches for a hit */
    QUERIES_AHEAD = 8, /* whose weights are fetched */
    ROUNDS_MAX = 2
};

/* A query on its way: probed, then scanned, then collected. */
struct query_in_flight {
    short_key key;
    uint32_t number; /* in the piece */
    size_t bucket_count, hit_count;
    uint32_t buckets[PSM_PROBES_MAX + HEADER_PROBES_SLACK];
    struct line_hit hits[PSM_PROBES_MAX];
};

struct psm_worker {
    struct probe_heap heap; /* where the number of flips is given */
    cog_status status;      /* of the heap */
    struct query_in_flight ring[QUERY_RING];
    uint32_t queries[SHORT_PIECE_QUERIES]; /* of the piece */
    uint32_t order[SHORT_PIECE_QUERIES];   /* numbers in the piece that a round searches */
    bool is_found[SHORT_PIECE_QUERIES];    /* find-first only */
    struct short_hit first[SHORT_PIECE_QUERIES];
};

struct psm_job {
    const struct psm_index *index;
    const struct psm_queries *queries;
    const struct psm_search *search;
    struct psm_list list;
    struct header_probes rounds[ROUNDS_MAX];
    unsigned round_count;
    struct psm_worker *workers;
};

struct psm_piece {
    const struct psm_job *job;
    const struct header_probes *probes;
    struct psm_worker *worker;
    struct short_hits *hits;
    size_t count; /* of order */
};

/* Fetches the weights and the signature of a query that comes soon. */
static void prefetch_query(const struct psm_job *job, const struct psm_piece *piece, size_t i) {
    if (i >= piece->count)
        return;
    size_t query = piece->worker->queries[piece->worker->order[i]];
    const float *weights = job->queries->weights + query * job->queries->signatures.bits;
    unsigned bits =
        job->queries->relative ? job->queries->signatures.bits : piece->probes->header_bits;
    for (unsigned bit = 0; bit < bits; bit += 16)
        __builtin_prefetch(weights + bit);
    __builtin_prefetch(signature_row(&job->queries->signatures, query));
}

/* The query's own header and the flips of VOSH; returns how many. */
static size_t fill_by_count(const struct psm_piece *piece, size_t query, uint32_t header,
                            uint32_t *buckets) {
    const struct psm_job *job = piece->job;
    struct psm_worker *worker = piece->worker;
    struct probe_bits bits;
    struct probe probe = {0};
    size_t count = 0;
    bool end = false;
    psm_query_bits(job->queries, query, piece->probes->header_bits, PROBE_BOUND_NONE, &bits);
    worker->status = probe_heap_start(&worker->heap, &bits, job->search->radius_bits, NULL);
    while (worker->status == COG_OK && !end) {
        buckets[count++] = header ^ (uint32_t)probe.mask;
        if (count > job->search->flips)
            break;
        worker->status = probe_heap_next(&worker->heap, &probe, &end, NULL);
    }
    return count;
}

static void start_query(void *context, size_t slot, size_t i) {
    const struct psm_piece *piece = context;
    const struct psm_job *job = piece->job;
    struct query_in_flight *flight = &piece->worker->ring[slot];
    flight->number = piece->worker->order[i];
    size_t query = piece->worker->queries[flight->number];
    prefetch_query(job, piece, i + QUERIES_AHEAD);
    flight->key = short_key_of_row(&job->queries->signatures, query);
    uint32_t header = (uint32_t)short_key_prefix(flight->key, piece->probes->header_bits);
    float units[PROBE_BITS_MAX];
    flight->bucket_count =
        job->search->flips > 0
            ? fill_by_count(piece, query, header, flight->buckets)
            : piece->probes->fill(piece->probes, psm_query_weights(job->queries, query, units),
                                  header, flight->buckets, PSM_PROBES_MAX);
}

static void scan_query(void *context, const size_t *slot, const size_t *ahead) {
    const struct psm_piece *piece = context;
    struct psm_worker *worker = piece->worker;
    const struct line_table *table = &piece->job->index->table;
    struct line_ahead next = {0};
    if (ahead)
        next = (struct line_ahead){worker->ring[*ahead].buckets, worker->ring[*ahead].bucket_count};
    if (!slot) {
        line_prefetch_rest(table, next, 0);
        return;
    }
    struct query_in_flight *flight = &worker->ring[*slot];
    uint32_t filter = line_filter(table, flight->key);
    struct line_probes probes = {flight->buckets, flight->bucket_count, &filter, 0};
    flight->hit_count =
        table->scan(table, &probes, piece->job->search->radius_bits, next, flight->hits);
    const struct query_in_flight *before =
        &worker->ring[(*slot + QUERY_RING - RECORD_DELAY) % QUERY_RING];
    for (size_t i = 0; i < before->hit_count; i++)
        line_record_prefetch(table, &before->hits[i]);
    for (size_t i = 0; i < flight->hit_count; i++) {
        line_hit_prefetch(table, &flight->hits[i]);
        if (flight->hits[i].slots)
            __builtin_prefetch(table->ranks + flight->hits[i].bucket);
    }
}

static cog_status collect_query(void *context, size_t slot, cog_error *error) {
    const struct psm_piece *piece = context;
    const struct psm_job *job = piece->job;
    const struct query_in_flight *flight = &piece->worker->ring[slot];
    const struct line_table *table = &job->index->table;
    if (piece->worker->status != COG_OK)
        return error_memory(error, job->search->flips * sizeof(struct probe_set), "the flips");
    for (size_t i = 0; i < flight->hit_count; i++) {
        struct line_match matches[MATCHES_MAX];
        uint32_t next = 0;
        do {
            size_t count =
                line_hit_matches(table, &flight->hits[i], flight->key, job->search->radius_bits,
                                 next, matches, MATCHES_MAX, &next);
            for (size_t m = 0; m < count; m++) {
                size_t position = line_rank(table, matches[m].bucket, matches[m].order);
                struct short_hit hit = {piece->worker->queries[flight->number], (uint32_t)position,
                                        matches[m].distance};
                if (job->search->first_only) {
                    piece->worker->first[flight->number] = hit;
                    piece->worker->is_found[flight->number] = true;
                    return COG_OK;
                }
                TRY(short_hits_add(piece->hits, hit, error));
            }
        } while (next != 0);
    }
    return COG_OK;
}

/* The numbers of a piece's queries that have no hit yet become the order. */
static size_t keep_open(struct psm_worker *worker, size_t count) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (!worker->is_found[worker->order[i]])
            worker->order[left++] = worker->order[i];
    return left;
}

static cog_status add_firsts(const struct psm_worker *worker, size_t count, struct short_hits *hits,
                             cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < count && status == COG_OK; i++)
        if (worker->is_found[i])
            status = short_hits_add(hits, worker->first[i], error);
    return status;
}

static cog_status search_piece(void *context, unsigned worker_number, size_t begin, size_t end,
                               struct short_hits *hits, cog_error *error) {
    const struct psm_job *job = context;
    struct psm_worker *worker = &job->workers[worker_number];
    struct psm_piece piece = {job, NULL, worker, hits, end - begin};
    size_t before = hits->count;
    for (size_t i = 0; i < end - begin; i++) {
        worker->queries[i] =
            job->list.queries ? job->list.queries[begin + i] : (uint32_t)(begin + i);
        worker->order[i] = (uint32_t)i;
        worker->is_found[i] = false;
    }
    cog_status status = COG_OK;
    for (unsigned round = 0; round < job->round_count && status == COG_OK; round++) {
        piece.probes = &job->rounds[round];
        status =
            query_ring_run(&piece, 0, piece.count, start_query, scan_query, collect_query, error);
        piece.count = keep_open(worker, piece.count);
    }
    if (status == COG_OK && job->search->first_only)
        status = add_firsts(worker, end - begin, hits, error);
    if (status == COG_OK) /* so far the hits have positions of keys for rows */
        status = short_hits_expand(hits, before, &job->index->rows,
                                   job->search->first_only || job->search->distinct, error);
    return status;
}

/* Most hits lie behind the most probable flips: where one is enough, a first round goes up to half
 * the bound, and the rest of the probes are made for queries that it leaves without a hit. */
static void plan_rounds(struct psm_job *job) {
    const struct volatility *volatility = job->queries->volatility;
    unsigned header_bits = job->index->table.header_bits, radius_bits = job->search->radius_bits;
    uint32_t bound = job->search->penalty_bound, from = 0;
    if (job->search->first_only && bound > 1 && job->search->flips == 0) {
        from = bound / 2 + 1;
        job->rounds[job->round_count++] =
            header_probes_of(volatility, header_bits, radius_bits, 0, from - 1);
    }
    job->rounds[job->round_count++] =
        header_probes_of(volatility, header_bits, radius_bits, from, bound);
}

cog_status psm_search_list(const struct psm_index *index, const struct psm_queries *queries,
                           const struct psm_search *search, struct psm_list list,
                           struct short_hits *hits, cog_error *error) {
    unsigned threads = threads_resolve(search->threads);
    if (search->flips >= PSM_PROBES_MAX)
        return error_set(error, COG_ERR_USAGE, "%zu flips: give at most %d", search->flips,
                         PSM_PROBES_MAX - 1);
    struct psm_job job = {.index = index, .queries = queries, .search = search, .list = list};
    plan_rounds(&job);
    job.workers = memory_array(threads, sizeof *job.workers);
    if (!job.workers)
        return error_memory(error, threads * sizeof *job.workers, "a search");
    for (unsigned i = 0; i < threads; i++) {
        for (unsigned slot = 0; slot < QUERY_RING; slot++)
            job.workers[i].ring[slot].hit_count = 0;
        job.workers[i].heap = (struct probe_heap){0};
        job.workers[i].status = COG_OK;
    }
    cog_status status = short_hits_gather(hits, threads, list.count, search_piece, &job, error);
    for (unsigned i = 0; i < threads; i++)
        probe_heap_free(&job.workers[i].heap);
    free(job.workers);
    return status;
}

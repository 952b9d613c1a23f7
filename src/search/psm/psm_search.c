#include "base/memory.h"
#include "base/threads.h"
#include "search/probes/header_probes.h"
#include "search/psm/psm.h"

/* Queries in flight: while the memory that a query needs is on its way, the queries before it are
 * scanned. */
enum {
    RING = 16,          /* slots, more than COLLECT_DELAY */
    SCAN_DELAY = 6,     /* queries between start and scan */
    COLLECT_DELAY = 11, /* queries between start and collection */
    RECORD_DELAY = 2,   /* queries between the two prefetches of a hit */
    QUERIES_AHEAD = 8,  /* whose margins are prefetched */
    ROUNDS_MAX = 2
};

/* A query in flight: started, then scanned, then collected. */
struct query_in_flight {
    short_key key;
    uint32_t number; /* in the piece */
    size_t bucket_count, hit_count;
    uint32_t buckets[PSM_PROBES_MAX + HEADER_PROBES_SLACK];
    struct bucket_hit hits[PSM_PROBES_MAX];
};

struct psm_worker {
    struct probe_heap heap; /* if the number of flips is given */
    cog_status status;      /* of the heap */
    struct query_in_flight ring[RING];
    uint32_t queries[SHORT_PIECE_QUERIES]; /* of the piece */
    uint32_t order[SHORT_PIECE_QUERIES];   /* numbers in the piece that a round searches */
    bool is_found[SHORT_PIECE_QUERIES];    /* find-first only */
    struct match first[SHORT_PIECE_QUERIES];
};

struct psm_job {
    const struct psm_index *index;
    const struct psm_queries *queries;
    const struct short_search *search;
    const uint32_t *list; /* the queries to search; NULL: all */
    size_t count;         /* queries to search */
    struct header_probes rounds[ROUNDS_MAX];
    unsigned round_count;
    struct psm_worker *workers;
};

struct psm_piece {
    const struct psm_job *job;
    const struct header_probes *probes;
    struct psm_worker *worker;
    struct match_list *hits;
    size_t count; /* of order */
};

/* Prefetches the margins and the signature of a query that comes soon. */
static void prefetch_query(const struct psm_job *job, const struct psm_piece *piece, size_t i) {
    if (i >= piece->count)
        return;
    size_t query = piece->worker->queries[piece->worker->order[i]];
    const float *margins = job->queries->margins + query * job->queries->signatures.bits;
    unsigned bits =
        job->queries->relative ? job->queries->signatures.bits : piece->probes->header_bits;
    for (unsigned bit = 0; bit < bits; bit += 16)
        __builtin_prefetch(margins + bit);
    __builtin_prefetch(signature_row(&job->queries->signatures, query));
}

/* Writes the query's own header and its most probable flips (VOSH); returns their number. */
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

static void start_query(const struct psm_piece *piece, size_t slot, size_t i) {
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
            : piece->probes->fill(piece->probes, psm_query_margins(job->queries, query, units),
                                  header, flight->buckets, PSM_PROBES_MAX);
}

static void scan_query(const struct psm_piece *piece, size_t slot, struct bucket_ahead ahead) {
    struct psm_worker *worker = piece->worker;
    const struct bucket_table *table = piece->job->index->stored.tables;
    struct query_in_flight *flight = &worker->ring[slot];
    uint32_t filter = bucket_filter(table, flight->key);
    struct bucket_probes probes = {flight->buckets, flight->bucket_count, &filter, 0};
    flight->hit_count =
        table->scan(table, &probes, piece->job->search->radius_bits, ahead, flight->hits);
    const struct query_in_flight *before = &worker->ring[(slot + RING - RECORD_DELAY) % RING];
    for (size_t i = 0; i < before->hit_count; i++)
        bucket_record_prefetch(table, &before->hits[i]);
    for (size_t i = 0; i < flight->hit_count; i++) {
        bucket_hit_prefetch(table, &flight->hits[i]);
        if (flight->hits[i].slots)
            __builtin_prefetch(table->ranks + flight->hits[i].bucket);
    }
}

/* Adds a match to the hits, or keeps it as the query's only one. */
static cog_status take_match(const struct psm_piece *piece, const struct query_in_flight *flight,
                             const struct bucket_match *match, cog_error *error) {
    struct psm_worker *worker = piece->worker;
    const uint32_t position = (uint32_t)bucket_rank(piece->job->index->stored.tables, match);
    const struct match hit = {worker->queries[flight->number], position, match->distance, 0};
    if (!piece->job->search->first_only)
        return match_list_add(piece->hits, hit, error);
    worker->first[flight->number] = hit;
    worker->is_found[flight->number] = true;
    return COG_OK;
}

static cog_status collect_query(const struct psm_piece *piece, size_t slot, cog_error *error) {
    const struct short_search *search = piece->job->search;
    const struct query_in_flight *flight = &piece->worker->ring[slot];
    if (piece->worker->status != COG_OK)
        return error_memory(error, search->flips * sizeof(struct probe_set), "the flips");
    for (size_t i = 0; i < flight->hit_count; i++) {
        struct bucket_match matches[BUCKET_MATCHES_MAX];
        uint32_t next = 0;
        do {
            size_t count =
                bucket_hit_matches(piece->job->index->stored.tables, &flight->hits[i], flight->key,
                                   search->radius_bits, next, matches, &next);
            if (search->first_only && count > 0)
                return take_match(piece, flight, &matches[0], error);
            for (size_t m = 0; m < count; m++)
                TRY(take_match(piece, flight, &matches[m], error));
        } while (next != 0);
    }
    return COG_OK;
}

/* Searches the queries of the piece's order. */
static cog_status run_piece(const struct psm_piece *piece, cog_error *error) {
    const struct query_in_flight *ring = piece->worker->ring;
    for (size_t i = 0; i < piece->count + COLLECT_DELAY; i++) {
        struct bucket_ahead ahead = {0};
        if (i < piece->count) {
            start_query(piece, i % RING, i);
            ahead = (struct bucket_ahead){ring[i % RING].buckets, ring[i % RING].bucket_count};
        }
        if (i >= SCAN_DELAY && i - SCAN_DELAY < piece->count)
            scan_query(piece, (i - SCAN_DELAY) % RING, ahead);
        else
            bucket_prefetch_rest(piece->job->index->stored.tables, ahead, 0);
        if (i >= COLLECT_DELAY)
            TRY(collect_query(piece, (i - COLLECT_DELAY) % RING, error));
    }
    return COG_OK;
}

/* Only queries without a hit stay in the order. */
static size_t keep_open(struct psm_worker *worker, size_t count) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (!worker->is_found[worker->order[i]])
            worker->order[left++] = worker->order[i];
    return left;
}

static cog_status add_firsts(const struct psm_worker *worker, size_t count, struct match_list *hits,
                             cog_error *error) {
    for (size_t i = 0; i < count; i++)
        if (worker->is_found[i])
            TRY(match_list_add(hits, worker->first[i], error));
    return COG_OK;
}

static cog_status search_piece(void *context, unsigned worker_number, size_t begin, size_t end,
                               struct match_list *hits, cog_error *error) {
    const struct psm_job *job = context;
    struct psm_worker *worker = &job->workers[worker_number];
    struct psm_piece piece = {job, NULL, worker, hits, end - begin};
    size_t before = hits->count;
    for (size_t i = 0; i < end - begin; i++) {
        worker->queries[i] = job->list ? job->list[begin + i] : (uint32_t)(begin + i);
        worker->order[i] = (uint32_t)i;
        worker->is_found[i] = false;
    }
    cog_status status = COG_OK;
    for (unsigned round = 0; round < job->round_count && status == COG_OK; round++) {
        piece.probes = &job->rounds[round];
        status = run_piece(&piece, error);
        piece.count = keep_open(worker, piece.count);
    }
    if (status == COG_OK && job->search->first_only)
        status = add_firsts(worker, end - begin, hits, error);
    if (status == COG_OK) /* so far the rows of hits are positions of keys */
        status = short_hits_expand(hits, before, &job->index->stored.rows,
                                   job->search->first_only || job->search->distinct, error);
    return status;
}

/* The most probable flips find most hits. If one hit is enough, a first round goes up to half the
 * bound, and only queries without a hit make the other probes. */
static void plan_rounds(struct psm_job *job) {
    const struct volatility *volatility = job->queries->volatility;
    unsigned header_bits = job->index->stored.tables[0].header_bits,
             radius_bits = job->search->radius_bits;
    uint32_t bound = job->search->penalty_bound, from = 0;
    if (job->search->first_only && bound > 1 && job->search->flips == 0) {
        from = bound / 2 + 1;
        job->rounds[job->round_count++] =
            header_probes_of(volatility, header_bits, radius_bits, 0, from - 1);
    }
    job->rounds[job->round_count++] =
        header_probes_of(volatility, header_bits, radius_bits, from, bound);
}

/* Searches `count` queries, those of `list` or all; hits come in that order. */
static cog_status search_list(const struct psm_index *index, const struct psm_queries *queries,
                              const struct short_search *search, const uint32_t *list, size_t count,
                              struct match_list *hits, cog_error *error) {
    unsigned threads = threads_resolve(search->threads);
    if (search->flips >= PSM_PROBES_MAX)
        return error_set(error, COG_ERR_USAGE, "%zu flips: give at most %d", search->flips,
                         PSM_PROBES_MAX - 1);
    struct psm_job job = {index, queries, search, list, count, {{0}}, 0, NULL};
    plan_rounds(&job);
    TAKE(job.workers, threads, "a search", error);
    for (unsigned i = 0; i < threads; i++) {
        for (unsigned slot = 0; slot < RING; slot++)
            job.workers[i].ring[slot].hit_count = 0;
        job.workers[i].heap = (struct probe_heap){0};
        job.workers[i].status = COG_OK;
    }
    cog_status status = short_hits_gather(hits, threads, count, search_piece, &job, error);
    for (unsigned i = 0; i < threads; i++)
        probe_heap_free(&job.workers[i].heap);
    free(job.workers);
    return status;
}

/* ---- Batches and chunks ---------------------------------------------------------------------- */

struct ordered_job {
    const struct psm_index *index; /* NULL: one is built of each chunk */
    const struct psm_chunks *chunks;
    struct psm_queries queries;
    struct short_search search;
    unsigned header_bits; /* that the bound belongs to; 0: nothing is learned yet */
    struct psm_learned learned;
};

/* Learns from the first chunk, and takes the bound for the header of this chunk's table. */
static cog_status find_bound(struct ordered_job *job, const struct psm_index *index,
                             const struct signatures_view *chunk, cog_error *error) {
    struct psm_training training = {.index = index,
                                    .stored = chunk,
                                    .asked = &job->queries.signatures,
                                    .asked_margins = job->queries.margins,
                                    .radius_bits = job->search.radius_bits};
    unsigned header_bits = index->stored.tables[0].header_bits, known = job->header_bits;
    job->header_bits = header_bits;
    job->queries.volatility = &job->learned.volatility;
    if (known == 0)
        TRY(psm_learn(&training, job->search.threads, &job->learned, error));
    if (known == header_bits)
        return COG_OK;
    return psm_learned_bound(&job->learned, &job->queries, header_bits, job->search.radius_bits,
                             job->chunks->recall, &job->search.penalty_bound, error);
}

static cog_status search_ordered(void *context, const struct signatures_view *chunk,
                                 struct query_order *order, struct match_list *hits,
                                 cog_error *error) {
    struct ordered_job *job = context;
    struct psm_index built = {0};
    size_t known = hits->count;
    TRY(query_order_by(order, 0, error));
    if (chunk)
        TRY(psm_build(&built, chunk, job->chunks->limits, job->search.threads, error));
    cog_status status =
        chunk && job->chunks->recall > 0 ? find_bound(job, &built, chunk, error) : COG_OK;
    THEN(status, search_list(chunk ? &built : job->index, &job->queries, &job->search,
                             order->ordered.rows, order->ordered.count, hits, error));
    if (status == COG_OK && chunk && job->search.first_only)
        status = query_order_drop(order, hits, known, error);
    psm_free(&built);
    return status;
}

cog_status psm_search(const struct psm_index *index, const struct psm_queries *queries,
                      const struct short_search *search, struct match_list *hits,
                      cog_error *error) {
    const struct signatures_view *view = &queries->signatures;
    TRY(short_search_check(view, search->radius_bits, index->stored.tables[0].key_bits, error));
    if (!search->batch)
        return search_list(index, queries, search, NULL, view->rows, hits, error);
    struct ordered_job job = {.index = index, .queries = *queries, .search = *search};
    return short_search_chunks(view, NULL, 0, search->threads, search_ordered, &job, hits, error);
}

cog_status psm_search_chunks(const struct psm_chunks *chunks, const struct psm_queries *queries,
                             const struct short_search *search, struct match_list *hits,
                             cog_error *error) {
    const struct signatures_view *view = &queries->signatures;
    TRY(short_search_check(view, search->radius_bits, chunks->stored->bits, error));
    struct ordered_job job = {.chunks = chunks, .queries = *queries, .search = *search};
    return short_search_chunks(view, chunks->stored, chunks->chunk_rows, search->threads,
                               search_ordered, &job, hits, error);
}

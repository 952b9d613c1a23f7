#include "index/bphs.h"

#include "base/memory.h"
#include "base/threads.h"
#include "index/query_order.h"
#include "index/query_ring.h"

enum {
    MATCHES_MAX = 16, /* taken from a bucket at a time */
    LOOK_UP_AHEAD = 16
};

/* Keys within the radius, whose rows are looked up later, many at once. */
struct found_key {
    short_key key;
    uint32_t query, distance;
};

struct found_keys {
    struct found_key *items;
    size_t count, capacity;
};

/* A query on its way; buckets and hits of table t lie from starts[t] on. */
struct bphs_flight {
    short_key key;
    uint32_t query;
    short_key permuted[BLOCK_CHOICES_MAX];
    size_t starts[BLOCK_CHOICES_MAX + 1];
    size_t hit_counts[BLOCK_CHOICES_MAX];
    uint32_t buckets[BPHS_PROBES_MAX];
    struct line_hit hits[BPHS_PROBES_MAX];
};

struct bphs_job {
    const struct bphs_index *index;
    const struct signatures_view *queries;
    const struct bphs_search *search;
    const struct key_array *list; /* keys and numbers of the queries to search, or NULL for all */
    size_t count;                 /* of them */
    unsigned choice_begin, choice_end;
    struct bphs_flight *flights; /* QUERY_RING for each worker */
    struct found_keys *found;    /* of each worker */
};

struct bphs_piece {
    const struct bphs_job *job;
    struct bphs_flight *ring;
    struct found_keys *found;
};

static void start_query(void *context, size_t slot, size_t number) {
    const struct bphs_piece *piece = context;
    const struct bphs_job *job = piece->job;
    const struct bphs_index *index = job->index;
    struct bphs_flight *flight = &piece->ring[slot];
    flight->query = job->list ? job->list->rows[number] : (uint32_t)number;
    flight->key = job->list ? short_key_at(job->list->keys, job->list->words, number)
                            : short_key_of_row(job->queries, number);
    size_t used = 0;
    for (unsigned choice = job->choice_begin; choice < job->choice_end; choice++) {
        const struct line_table *table = &index->tables[choice];
        short_key permuted =
            block_permute(&index->layout, &index->layout.choices[choice], flight->key);
        flight->permuted[choice] = permuted;
        flight->starts[choice] = used;
        uint32_t header = (uint32_t)short_key_prefix(permuted, table->header_bits);
        for (size_t i = 0; i < index->mask_counts[choice]; i++, used++) {
            flight->buckets[used] = header ^ index->masks[choice][i];
        }
    }
    flight->starts[job->choice_end] = used;
}

static void scan_query(void *context, const size_t *slot, const size_t *ahead) {
    const struct bphs_piece *piece = context;
    const struct bphs_job *job = piece->job;
    const struct bphs_index *index = job->index;
    for (unsigned choice = job->choice_begin; ahead && choice < job->choice_end; choice++) {
        const struct bphs_flight *next = &piece->ring[*ahead];
        for (size_t i = next->starts[choice]; i < next->starts[choice + 1]; i++)
            line_prefetch(&index->tables[choice], next->buckets[i]);
    }
    if (!slot)
        return;
    struct bphs_flight *flight = &piece->ring[*slot];
    for (unsigned choice = job->choice_begin; choice < job->choice_end; choice++) {
        const struct line_table *table = &index->tables[choice];
        size_t start = flight->starts[choice];
        struct line_hit *hits = flight->hits + start;
        size_t count =
            table->scan(table, flight->buckets + start, flight->starts[choice + 1] - start,
                        line_filter(table, flight->permuted[choice]), job->search->radius_bits,
                        (struct line_ahead){0}, hits);
        flight->hit_counts[choice] = count;
        for (size_t i = 0; i < count; i++)
            line_hit_prefetch(table, &hits[i]);
    }
}

/* Whether a table before `choice` leads to the pair as well: then it is reported there. The
 * difference is that of the permuted keys. */
static bool found_before(const struct bphs_index *index, unsigned choice, short_key difference) {
    unsigned radius_bits = index->layout.header_radius_bits;
    const short_key *headers = choice ? index->earlier + choice * (choice - 1) / 2 : NULL;
    for (unsigned earlier = 0; earlier < choice; earlier++) {
        short_key in_header = difference & headers[earlier];
        if (in_header == 0 || (radius_bits > 0 && short_key_distance(in_header, 0) <= radius_bits))
            return true;
    }
    return false;
}

/* *done is set once a first hit is enough and there is one. */
static cog_status collect_hit(const struct bphs_piece *piece, const struct bphs_flight *flight,
                              unsigned choice, const struct line_hit *hit, bool *done,
                              cog_error *error) {
    const struct bphs_index *index = piece->job->index;
    const struct bphs_search *search = piece->job->search;
    struct line_match matches[MATCHES_MAX];
    uint32_t next = 0;
    do {
        size_t count = line_hit_matches(&index->tables[choice], hit, flight->permuted[choice],
                                        search->radius_bits, next, matches, MATCHES_MAX, &next);
        for (size_t m = 0; m < count; m++) {
            if (found_before(index, choice, matches[m].key ^ flight->permuted[choice]))
                continue;
            short_key key =
                block_permute_back(&index->layout, &index->layout.choices[choice], matches[m].key);
            struct found_keys *found = piece->found;
            if (!memory_grow((void **)&found->items, &found->capacity, found->count + 1,
                             sizeof *found->items))
                return error_memory(error, found->count * sizeof *found->items,
                                    "the hits of a search");
            found->items[found->count++] =
                (struct found_key){key, flight->query, matches[m].distance};
            *done = search->first_only;
            if (*done)
                return COG_OK;
        }
    } while (next != 0);
    return COG_OK;
}

static cog_status collect_query(void *context, size_t slot, cog_error *error) {
    const struct bphs_piece *piece = context;
    const struct bphs_flight *flight = &piece->ring[slot];
    bool done = false;
    for (unsigned choice = piece->job->choice_begin; choice < piece->job->choice_end; choice++)
        for (size_t i = 0; i < flight->hit_counts[choice] && !done; i++) {
            const struct line_hit *hit = &flight->hits[flight->starts[choice] + i];
            cog_status status = collect_hit(piece, flight, choice, hit, &done, error);
            if (status != COG_OK)
                return status;
        }
    return COG_OK;
}

/* Turns found keys into hits with rows, fetching ahead what the look-ups need. */
static cog_status look_up(const struct bphs_index *index, const struct found_keys *found,
                          bool first_only, struct short_hits *hits, cog_error *error) {
    const struct line_table *table = &index->tables[0];
    size_t before = hits->count;
    cog_status status = COG_OK;
    for (size_t i = 0; i < found->count && status == COG_OK; i++) {
        if (i + LOOK_UP_AHEAD < found->count) {
            uint64_t bucket =
                short_key_prefix(found->items[i + LOOK_UP_AHEAD].key, table->header_bits);
            line_prefetch(table, bucket);
            __builtin_prefetch(table->ranks + bucket);
        }
        const struct found_key *key = &found->items[i];
        uint32_t position = (uint32_t)line_find(table, key->key);
        status =
            short_hits_add(hits, (struct short_hit){key->query, position, key->distance}, error);
    }
    if (status == COG_OK)
        status = short_hits_expand(hits, before, &index->rows, first_only, error);
    return status;
}

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               struct short_hits *hits, cog_error *error) {
    const struct bphs_job *job = context;
    struct bphs_piece piece = {job, job->flights + (size_t)worker * QUERY_RING,
                               &job->found[worker]};
    piece.found->count = 0;
    cog_status status =
        query_ring_run(&piece, begin, end, start_query, scan_query, collect_query, error);
    if (status == COG_OK)
        status = look_up(job->index, piece.found, job->search->first_only, hits, error);
    return status;
}

/* Searches the queries of the job in its range of tables. */
static cog_status search_list(struct bphs_job *job, struct short_hits *hits, cog_error *error) {
    unsigned threads = threads_resolve(job->search->threads);
    cog_status status;
    job->flights = memory_array((size_t)threads * QUERY_RING, sizeof *job->flights);
    job->found = memory_zeroed_array(threads, sizeof *job->found);
    if (job->flights && job->found)
        status = short_hits_gather(hits, threads, job->count, search_piece, job, error);
    else
        status = error_memory(error, threads * QUERY_RING * sizeof *job->flights, "a search");
    for (unsigned worker = 0; job->found && worker < threads; worker++)
        free(job->found[worker].items);
    free(job->found);
    free(job->flights);
    return status;
}

/* The choice after the last that begins with the same block as choice `begin`. */
static unsigned same_block_end(const struct block_layout *layout, unsigned begin) {
    unsigned end = begin + 1;
    while (end < layout->choice_count &&
           layout->choices[end].first_block == layout->choices[begin].first_block)
        end++;
    return end;
}

/* Of hits by query, from number `first` on, only the first of each query stays. */
static void keep_firsts(struct short_hits *hits, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < hits->count; i++)
        if (kept == first || hits->items[kept - 1].query != hits->items[i].query)
            hits->items[kept++] = hits->items[i];
    hits->count = kept;
}

/* Tables that begin with the same block share an order of the queries in which each reads its
 * buckets nearly one after the other. */
static cog_status search_batch(struct bphs_job *job, struct short_hits *hits, cog_error *error) {
    const struct block_layout *layout = &job->index->layout;
    size_t before = hits->count;
    struct query_order order;
    cog_status status = query_order_init(&order, job->queries, job->search->threads, error);
    if (status != COG_OK)
        return status;
    job->list = &order.ordered;
    for (unsigned begin = 0; begin < layout->choice_count && status == COG_OK;) {
        job->choice_begin = begin;
        job->choice_end = begin = same_block_end(layout, begin);
        unsigned block = layout->choices[job->choice_begin].first_block;
        status = query_order_by(&order, block_begin(layout, block), job->search->threads, error);
        if (status == COG_OK)
            status = search_list(job, hits, error);
    }
    query_order_free(&order);
    if (status == COG_OK)
        status = short_hits_sort(hits, before, job->search->threads, error);
    if (job->search->first_only)
        keep_firsts(hits, before);
    return status;
}

cog_status bphs_search(const struct bphs_index *index, const struct signatures_view *queries,
                       const struct bphs_search *search, struct short_hits *hits,
                       cog_error *error) {
    cog_status status = short_key_check(queries, search->radius_bits, error);
    if (status != COG_OK)
        return status;
    if (queries->bits != index->layout.key_bits || search->radius_bits > index->layout.radius_bits)
        return error_set(error, COG_ERR_USAGE,
                         "the index was built for %u bits and radius %u, not for %u bits and "
                         "radius %u: build another",
                         index->layout.key_bits, index->layout.radius_bits, queries->bits,
                         search->radius_bits);
    struct bphs_job job = {.index = index,
                           .queries = queries,
                           .search = search,
                           .count = queries->rows,
                           .choice_end = index->layout.choice_count};
    return search->batch ? search_batch(&job, hits, error) : search_list(&job, hits, error);
}

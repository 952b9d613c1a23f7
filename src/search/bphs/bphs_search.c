#include "base/memory.h"
#include "base/threads.h"
#include "search/bphs/bphs.h"

enum {
    BLOCK_QUERIES = 1024, /* searched in one table before the next table */
    LOOK_UP_AHEAD = 16
};

/* A key within the radius; the rows of many keys are looked up together. */
struct found_key {
    short_key key;
    uint32_t query, distance;
};

struct found_keys {
    struct found_key *items;
    size_t count, capacity;
};

/* A block of queries, and what one table has for them. */
struct bphs_block {
    size_t count;
    uint32_t queries[BLOCK_QUERIES];
    uint64_t keys[2 * BLOCK_QUERIES], permuted[2 * BLOCK_QUERIES]; /* words as in a key array */
    bool is_found[BLOCK_QUERIES];                                  /* find-first only */
    size_t hit_count;
    uint32_t buckets[BPHS_PROBES_MAX], filters[BPHS_PROBES_MAX];
    struct bucket_hit hits[BPHS_PROBES_MAX];
    struct found_keys found;
};

struct bphs_job {
    const struct bphs_index *index;
    const struct signatures_view *queries;
    const struct short_search *search;
    const struct key_array *list; /* keys and numbers of the queries to search, or NULL for all */
    size_t count;                 /* of them */
    unsigned choice_begin, choice_end;
    struct bphs_block *blocks; /* of each worker */
};

static void take_queries(const struct bphs_job *job, size_t begin, size_t end,
                         struct bphs_block *block) {
    unsigned words = job->index->layout.key_bits / 64;
    block->count = end - begin;
    memset(block->is_found, 0, block->count * sizeof *block->is_found);
    if (job->list) {
        memcpy(block->queries, job->list->rows + begin, block->count * sizeof *block->queries);
        memcpy(block->keys, job->list->keys + begin * words,
               block->count * words * sizeof *block->keys);
        return;
    }
    for (size_t i = 0; i < block->count; i++) {
        block->queries[i] = (uint32_t)(begin + i);
        short_key_put(block->keys, words, i, short_key_of_row(job->queries, begin + i));
    }
}

/* Probe p belongs to query p / masks. */
static void scan_table(const struct bphs_job *job, unsigned choice, struct bphs_block *block) {
    const struct bphs_index *index = job->index;
    const struct bucket_table *table = &index->stored.tables[choice];
    const struct block_choice *chosen = &index->layout.choices[choice];
    size_t masks = index->mask_counts[choice], used = 0;
    unsigned words = table->words, header_bits = table->header_bits;
    block_permute_all(&index->layout, chosen, block->keys, block->count, block->permuted);
    for (size_t i = 0; i < block->count; i++) {
        uint32_t header = (uint32_t)(block->permuted[words * i] >> (64 - header_bits));
        uint32_t filter = (uint32_t)block->permuted[words * i + words - 1];
        for (size_t m = 0; m < masks; m++, used++) {
            block->buckets[used] = header ^ index->masks[choice][m];
            block->filters[used] = filter;
        }
    }
    struct bucket_probes probes = {block->buckets, used, block->filters, 1};
    block->hit_count = bucket_scan_fetching(table, &probes, job->search->radius_bits, block->hits);
}

/* Whether a table before `choice` finds the pair too; that table reports it. `difference` is that
 * of the permuted keys. */
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

static cog_status collect_hit(const struct bphs_job *job, unsigned choice,
                              const struct bucket_hit *hit, size_t number, struct bphs_block *block,
                              cog_error *error) {
    const struct bphs_index *index = job->index;
    struct bucket_match matches[BUCKET_MATCHES_MAX];
    struct found_keys *found = &block->found;
    short_key permuted = short_key_at(block->permuted, index->stored.tables[choice].words, number);
    uint32_t next = 0;
    do {
        size_t count = bucket_hit_matches(&index->stored.tables[choice], hit, permuted,
                                          job->search->radius_bits, next, matches, &next);
        for (size_t m = 0; m < count; m++) {
            if (found_before(index, choice, matches[m].key ^ permuted))
                continue;
            short_key key =
                block_permute_back(&index->layout, &index->layout.choices[choice], matches[m].key);
            GROW(found->items, found->capacity, found->count + 1, "the hits of a search", error);
            found->items[found->count++] =
                (struct found_key){key, block->queries[number], matches[m].distance};
            block->is_found[number] = job->search->first_only;
            if (block->is_found[number])
                return COG_OK;
        }
    } while (next != 0);
    return COG_OK;
}

static cog_status collect_hits(const struct bphs_job *job, unsigned choice,
                               struct bphs_block *block, cog_error *error) {
    size_t masks = job->index->mask_counts[choice];
    const struct bucket_table *table = &job->index->stored.tables[choice];
    for (size_t i = 0; i < block->hit_count; i++)
        bucket_hit_prefetch(table, &block->hits[i]);
    for (size_t i = 0; i < block->hit_count; i++)
        bucket_record_prefetch(table, &block->hits[i]);
    for (size_t i = 0; i < block->hit_count; i++) {
        size_t number = masks == 1 ? block->hits[i].probe : block->hits[i].probe / masks;
        if (!block->is_found[number])
            TRY(collect_hit(job, choice, &block->hits[i], number, block, error));
    }
    return COG_OK;
}

/* Queries that have their first hit leave the block. */
static void drop_found(unsigned words, struct bphs_block *block) {
    size_t left = 0;
    for (size_t i = 0; i < block->count; i++) {
        block->queries[left] = block->queries[i];
        short_key_put(block->keys, words, left, short_key_at(block->keys, words, i));
        left += !block->is_found[i];
    }
    block->count = left;
    memset(block->is_found, 0, left * sizeof *block->is_found);
}

/* Turns found keys into hits with rows, prefetching what the look-ups need. */
static cog_status look_up(const struct bphs_index *index, const struct found_keys *found,
                          bool first_only, struct match_list *hits, cog_error *error) {
    const struct bucket_table *table = &index->stored.tables[0];
    size_t before = hits->count;
    cog_status status = COG_OK;
    for (size_t i = 0; i < found->count && status == COG_OK; i++) {
        if (i + LOOK_UP_AHEAD < found->count) {
            uint64_t bucket =
                short_key_prefix(found->items[i + LOOK_UP_AHEAD].key, table->header_bits);
            bucket_prefetch(table, bucket);
            __builtin_prefetch(table->ranks + bucket);
        }
        const struct found_key *key = &found->items[i];
        uint32_t position = (uint32_t)bucket_find(table, key->key);
        status =
            match_list_add(hits, (struct match){key->query, position, key->distance, 0}, error);
    }
    THEN(status, short_hits_expand(hits, before, &index->stored.rows, first_only, error));
    return status;
}

/* One table after the other, so that prefetches keep memory busy. */
static cog_status search_block(const struct bphs_job *job, struct bphs_block *block,
                               cog_error *error) {
    cog_status status = COG_OK;
    for (unsigned choice = job->choice_begin; choice < job->choice_end && status == COG_OK;
         choice++) {
        scan_table(job, choice, block);
        status = collect_hits(job, choice, block, error);
        if (job->search->first_only)
            drop_found(job->index->stored.tables[choice].words, block);
    }
    return status;
}

/* The largest number of queries whose probes of one table fit a block. */
static size_t block_queries(const struct bphs_job *job) {
    size_t masks = 1;
    for (unsigned choice = job->choice_begin; choice < job->choice_end; choice++)
        if (masks < job->index->mask_counts[choice])
            masks = job->index->mask_counts[choice];
    return BPHS_PROBES_MAX / masks < BLOCK_QUERIES ? BPHS_PROBES_MAX / masks : BLOCK_QUERIES;
}

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               struct match_list *hits, cog_error *error) {
    const struct bphs_job *job = context;
    struct bphs_block *block = &job->blocks[worker];
    size_t step = block_queries(job), before = hits->count;
    cog_status status = COG_OK;
    block->found.count = 0;
    for (size_t first = begin; first < end && status == COG_OK; first += step) {
        take_queries(job, first, end - first < step ? end : first + step, block);
        status = search_block(job, block, error);
    }
    THEN(status, look_up(job->index, &block->found, job->search->first_only, hits, error));
    if (status == COG_OK && !job->list)
        status = short_hits_sort(hits, before, 1, error);
    return status;
}

/* Searches the queries of the job in its range of tables. */
static cog_status search_list(struct bphs_job *job, struct match_list *hits, cog_error *error) {
    unsigned threads = threads_resolve(job->search->threads);
    cog_status status;
    TAKE(job->blocks, threads, "a search", error);
    for (unsigned worker = 0; worker < threads; worker++)
        job->blocks[worker].found = (struct found_keys){0};
    status = short_hits_gather(hits, threads, job->count, search_piece, job, error);
    for (unsigned worker = 0; worker < threads; worker++)
        free(job->blocks[worker].found.items);
    free(job->blocks);
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

/* Tables that begin with the same block share an order of the queries, in which each reads its
 * buckets nearly one after the other. If one hit is enough, the next order has only the queries
 * without a hit. */
static cog_status search_blocks(struct bphs_job *job, struct query_order *order,
                                struct match_list *hits, cog_error *error) {
    const struct block_layout *layout = &job->index->layout;
    job->list = &order->ordered;
    for (unsigned begin = 0; begin < layout->choice_count;) {
        job->choice_begin = begin;
        job->choice_end = begin = same_block_end(layout, begin);
        unsigned block = layout->choices[job->choice_begin].first_block;
        TRY(query_order_by(order, block_begin(layout, block), error));
        size_t known = hits->count;
        job->count = order->ordered.count;
        TRY(search_list(job, hits, error));
        if (job->search->first_only)
            TRY(query_order_drop(order, hits, known, error));
    }
    return COG_OK;
}

struct ordered_job {
    const struct bphs_index *index; /* NULL: one is built of each chunk */
    const struct short_search *search;
    unsigned blocks, chosen; /* of an index that is built */
};

static cog_status search_ordered(void *context, const struct signatures_view *chunk,
                                 struct query_order *order, struct match_list *hits,
                                 cog_error *error) {
    const struct ordered_job *ordered = context;
    struct bphs_index built = {0};
    struct bphs_job job = {.index = chunk ? &built : ordered->index, .search = ordered->search};
    if (chunk)
        TRY(bphs_build(&built, chunk, ordered->blocks, ordered->chosen,
                       ordered->search->radius_bits, ordered->search->threads, error));
    cog_status status = search_blocks(&job, order, hits, error);
    bphs_free(&built);
    return status;
}

cog_status bphs_search(const struct bphs_index *index, const struct signatures_view *queries,
                       const struct short_search *search, struct match_list *hits,
                       cog_error *error) {
    TRY(block_layout_check(&index->layout, queries, search->radius_bits, error));
    struct bphs_job job = {.index = index,
                           .queries = queries,
                           .search = search,
                           .count = queries->rows,
                           .choice_end = index->layout.choice_count};
    if (!search->batch)
        return search_list(&job, hits, error);
    struct ordered_job ordered = {.index = index, .search = search};
    return short_search_chunks(queries, NULL, 0, search->threads, search_ordered, &ordered, hits,
                               error);
}

cog_status bphs_search_chunks(const struct signatures_view *stored, size_t chunk_rows,
                              unsigned blocks, unsigned chosen,
                              const struct signatures_view *queries,
                              const struct short_search *search, struct match_list *hits,
                              cog_error *error) {
    struct ordered_job ordered = {NULL, search, blocks, chosen};
    TRY(short_search_check(queries, search->radius_bits, stored->bits, error));
    return short_search_chunks(queries, stored, chunk_rows, search->threads, search_ordered,
                               &ordered, hits, error);
}

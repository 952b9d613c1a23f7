#include "rivals/bphs_published.h"

#include "rivals/key_scan.h"

cog_status bphs_published_build(struct bphs_published *index, const struct signatures_view *view,
                                unsigned blocks, unsigned chosen, unsigned radius_bits,
                                unsigned threads, cog_error *error) {
    *index = (struct bphs_published){0};
    cog_status status = short_key_check(view, radius_bits, error);
    if (status == COG_OK)
        status = block_layout_init(&index->layout, view->bits, blocks, chosen, radius_bits, error);
    if (status == COG_OK && index->layout.header_radius_bits > 0)
        status = error_set(error, COG_ERR_USAGE, "radius %u with %u chosen blocks needs %u blocks",
                           radius_bits, chosen, chosen + radius_bits);
    if (status == COG_OK)
        status = key_set_build(&index->set, view, threads, error);
    for (unsigned choice = 1; status == COG_OK && choice < index->layout.choice_count; choice++)
        status = block_permuted_keys(&index->layout, choice, &index->set.keys, threads,
                                     &index->copies[choice], error);
    if (status != COG_OK)
        bphs_published_free(index);
    return status;
}

void bphs_published_free(struct bphs_published *index) {
    for (unsigned choice = 1; choice < index->layout.choice_count; choice++)
        key_array_free(&index->copies[choice]);
    key_set_free(&index->set);
    *index = (struct bphs_published){0};
}

size_t bphs_published_bytes(const struct bphs_published *index) {
    const struct key_array *keys = &index->set.keys;
    return index->layout.choice_count * keys->count * keys->words * sizeof *keys->keys;
}

/* The first key that is not less. */
static size_t lower_bound(const struct key_array *keys, short_key wanted) {
    size_t at;
    FIND_FIRST_NOT(at, 0, keys->count, short_key_at(keys->keys, keys->words, at) < wanted);
    return at;
}

struct published_job {
    const struct bphs_published *index;
    const struct signatures_view *queries;
    const struct short_search *search;
    key_scan *scan;
};

/* Whether an earlier choice has a header in which the two agree. */
static bool found_before(const struct block_layout *layout, unsigned choice, short_key difference) {
    for (unsigned earlier = 0; earlier < choice; earlier++) {
        const struct block_choice *before = &layout->choices[earlier];
        short_key permuted = block_permute(layout, before, difference);
        if ((permuted & short_key_mask(0, before->header_bits)) == 0)
            return true;
    }
    return false;
}

/* Binary search for the header in one copy, then the scan. */
static cog_status search_copy(const struct published_job *job, unsigned choice, short_key query,
                              uint32_t number, struct match_list *hits, cog_error *error) {
    const struct bphs_published *index = job->index;
    const struct block_layout *layout = &index->layout;
    const struct block_choice *chosen = &layout->choices[choice];
    const struct key_array *keys = choice == 0 ? &index->set.keys : &index->copies[choice];
    short_key permuted = block_permute(layout, chosen, query);
    short_key header_mask = short_key_mask(0, chosen->header_bits);
    for (size_t i = lower_bound(keys, permuted & header_mask);; i++) {
        i = job->scan(keys->keys, keys->words, i, keys->count, permuted, header_mask,
                      job->search->radius_bits);
        if (i == KEY_SCAN_ENDED)
            return COG_OK;
        short_key key = short_key_at(keys->keys, keys->words, i);
        unsigned distance = short_key_distance(key, permuted);
        short_key original = block_permute_back(layout, chosen, key);
        if (found_before(layout, choice, original ^ query))
            continue;
        size_t position = choice == 0 ? i : lower_bound(&index->set.keys, original);
        cog_status status = short_hits_add_rows(hits, &index->set.rows, position, number, distance,
                                                job->search->first_only, error);
        if (status != COG_OK || job->search->first_only)
            return status;
    }
}

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               struct match_list *hits, cog_error *error) {
    (void)worker;
    const struct published_job *job = context;
    for (size_t number = begin; number < end; number++) {
        short_key query = short_key_of_row(job->queries, number);
        size_t before = hits->count;
        for (unsigned choice = 0; choice < job->index->layout.choice_count; choice++) {
            cog_status status = search_copy(job, choice, query, (uint32_t)number, hits, error);
            if (status != COG_OK)
                return status;
            if (job->search->first_only && hits->count > before)
                break;
        }
    }
    return COG_OK;
}

cog_status bphs_published_search(const struct bphs_published *index,
                                 const struct signatures_view *queries,
                                 const struct short_search *search, struct match_list *hits,
                                 cog_error *error) {
    cog_status status = block_layout_check(&index->layout, queries, search->radius_bits, error);
    if (status != COG_OK)
        return status;
    struct published_job job = {index, queries, search, key_scan_choose()};
    return short_hits_gather(hits, search->threads, queries->rows, search_piece, &job, error);
}

cog_status bphs_published_search_batch(const struct signatures_view *stored,
                                       const struct signatures_view *queries, unsigned blocks,
                                       unsigned chosen, unsigned radius_bits, unsigned threads,
                                       struct match_list *hits, cog_error *error) {
    struct bphs_published tables;
    cog_status status =
        bphs_published_build(&tables, queries, blocks, chosen, radius_bits, threads, error);
    if (status != COG_OK)
        return status;
    struct short_search search = {.radius_bits = radius_bits, .threads = threads};
    size_t before = hits->count;
    status = bphs_published_search(&tables, stored, &search, hits, error);
    for (size_t i = before; i < hits->count; i++) {
        struct match *hit = &hits->items[i];
        *hit = (struct match){hit->b, hit->a, hit->distance, 0};
    }
    if (status == COG_OK)
        status = short_hits_sort(hits, before, threads, error);
    bphs_published_free(&tables);
    return status;
}

#include "rivals/psm_published.h"

#include "base/memory.h"
#include "base/threads.h"
#include "rivals/key_scan.h"

cog_status psm_published_build(struct psm_published *index, const struct signatures_view *view,
                               unsigned header_bits, unsigned threads, cog_error *error) {
    *index = (struct psm_published){.header_bits = header_bits};
    cog_status status = short_key_check(view, 0, error);
    if (status == COG_OK && (header_bits < 1 || header_bits > 31))
        status = error_set(error, COG_ERR_USAGE, "a header of %u bits: give 1 to 31", header_bits);
    if (status == COG_OK)
        status = key_set_build(&index->set, view, threads, error);
    if (status != COG_OK)
        return status;
    size_t headers = (size_t)1 << header_bits;
    index->offsets = memory_large((headers + 1) * sizeof *index->offsets);
    if (!index->offsets) {
        psm_published_free(index);
        return error_memory(error, (headers + 1) * sizeof *index->offsets, "the header table");
    }
    const struct key_array *keys = &index->set.keys;
    size_t header = 0;
    for (size_t i = 0; i < keys->count; i++) {
        short_key key = short_key_at(keys->keys, keys->words, i);
        while (header <= short_key_prefix(key, header_bits))
            index->offsets[header++] = (uint32_t)i;
    }
    while (header <= headers)
        index->offsets[header++] = (uint32_t)keys->count;
    return COG_OK;
}

void psm_published_free(struct psm_published *index) {
    memory_large_free(index->offsets,
                      (((size_t)1 << index->header_bits) + 1) * sizeof *index->offsets);
    key_set_free(&index->set);
    *index = (struct psm_published){0};
}

size_t psm_published_bytes(const struct psm_published *index) {
    const struct key_array *keys = &index->set.keys;
    return keys->count * keys->words * sizeof *keys->keys +
           (((size_t)1 << index->header_bits) + 1) * sizeof *index->offsets;
}

struct published_job {
    const struct psm_published *index;
    const struct psm_queries *queries;
    const struct psm_published_search *search;
    struct probe_heap *heaps;
    key_scan *scan;
};

/* Linear scan of one header. */
static cog_status scan_header(const struct published_job *job, short_key key, uint64_t header,
                              uint32_t query, struct match_list *hits, cog_error *error) {
    const struct psm_published *index = job->index;
    const struct key_array *keys = &index->set.keys;
    size_t end = index->offsets[header + 1], i = index->offsets[header];
    for (;; i++) {
        i = job->scan(keys->keys, keys->words, i, end, key, 0, job->search->radius_bits);
        if (i == KEY_SCAN_ENDED)
            return COG_OK;
        unsigned distance = short_key_distance(key, short_key_at(keys->keys, keys->words, i));
        cog_status status = short_hits_add_rows(hits, &index->set.rows, i, query, distance,
                                                job->search->first_only, error);
        if (status != COG_OK || job->search->first_only)
            return status;
    }
}

static cog_status search_query(const struct published_job *job, struct probe_heap *heap,
                               uint32_t query, struct match_list *hits, cog_error *error) {
    unsigned header_bits = job->index->header_bits;
    struct probe_bits bits;
    psm_query_bits(job->queries, query, header_bits, PROBE_BOUND_NONE, &bits);
    cog_status status = probe_heap_start(heap, &bits, job->search->radius_bits, error);
    short_key key = short_key_of_row(&job->queries->signatures, query);
    uint64_t header = short_key_prefix(key, header_bits);
    size_t before = hits->count;
    struct probe probe = {0};
    bool end = false;
    for (size_t k = 0; status == COG_OK && !end; k++) {
        status = scan_header(job, key, header ^ probe.mask, query, hits, error);
        if (k == job->search->flips || (job->search->first_only && hits->count > before))
            break;
        if (status == COG_OK)
            status = probe_heap_next(heap, &probe, &end, error);
    }
    return status;
}

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               struct match_list *hits, cog_error *error) {
    const struct published_job *job = context;
    cog_status status = COG_OK;
    for (size_t query = begin; query < end && status == COG_OK; query++)
        status = search_query(job, &job->heaps[worker], (uint32_t)query, hits, error);
    return status;
}

cog_status psm_published_search(const struct psm_published *index,
                                const struct psm_queries *queries,
                                const struct psm_published_search *search, struct match_list *hits,
                                cog_error *error) {
    cog_status status = short_key_check(&queries->signatures, search->radius_bits, error);
    if (status != COG_OK)
        return status;
    if (queries->signatures.bits != index->set.keys.words * 64)
        return error_set(error, COG_ERR_USAGE, "queries and stored signatures differ in width");
    unsigned threads = threads_resolve(search->threads);
    struct published_job job = {index, queries, search, NULL, key_scan_choose()};
    job.heaps = memory_zeroed_array(threads, sizeof *job.heaps);
    if (!job.heaps)
        return error_memory(error, threads * sizeof *job.heaps, "a search");
    status = short_hits_gather(hits, threads, queries->signatures.rows, search_piece, &job, error);
    for (unsigned i = 0; i < threads; i++)
        probe_heap_free(&job.heaps[i]);
    free(job.heaps);
    return status;
}

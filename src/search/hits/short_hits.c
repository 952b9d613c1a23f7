#include "search/hits/short_hits.h"

#include "base/memory.h"
#include "base/threads.h"

enum { PREFETCH_AHEAD = 16 };

static cog_status reserve(struct short_hits *hits, size_t needed, cog_error *error) {
    if (memory_grow((void **)&hits->items, &hits->capacity, needed, sizeof *hits->items))
        return COG_OK;
    return error_memory(error, needed * sizeof *hits->items,
                        "the hits of a search; a smaller radius gives fewer");
}

cog_status short_hits_add(struct short_hits *hits, struct short_hit hit, cog_error *error) {
    if (hits->count == hits->capacity) {
        TRY(reserve(hits, hits->count + 1, error));
    }
    hits->items[hits->count++] = hit;
    return COG_OK;
}

cog_status short_hits_add_rows(struct short_hits *hits, const struct key_rows *rows,
                               size_t position, uint32_t query, uint32_t distance, bool first_only,
                               cog_error *error) {
    size_t count;
    const uint32_t *of_key = key_rows_of(rows, position, &count);
    if (first_only)
        count = 1;
    cog_status status = COG_OK;
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = short_hits_add(hits, (struct short_hit){query, of_key[i], distance}, error);
    return status;
}

/* Appends the lists of pieces in order. */
static cog_status join(struct short_hits *hits, const struct short_hits *pieces, size_t count,
                       cog_error *error) {
    size_t total = hits->count;
    for (size_t i = 0; i < count; i++)
        total += pieces[i].count;
    cog_status status = reserve(hits, total, error);
    for (size_t i = 0; status == COG_OK && i < count; i++)
        if (pieces[i].count > 0) {
            memcpy(hits->items + hits->count, pieces[i].items,
                   pieces[i].count * sizeof *hits->items);
            hits->count += pieces[i].count;
        }
    return status;
}

cog_status short_hits_expand(struct short_hits *hits, size_t first, const struct key_rows *rows,
                             bool first_only, cog_error *error) {
    struct short_hits expanded = {0};
    cog_status status = COG_OK;
    bool grouped = false;
    for (size_t i = first; i < hits->count; i++) {
        const struct short_hit *hit = &hits->items[i];
        if (i + PREFETCH_AHEAD < hits->count)
            __builtin_prefetch(rows->entries + hit[PREFETCH_AHEAD].row);
        if (!key_rows_are_sound(rows, hit->row))
            return error_set(error, COG_ERR_FORMAT,
                             "the rows of short signatures are damaged: build the index again");
        grouped |= rows->entries[hit->row] >> 31 != 0;
    }
    if (!grouped) {
        for (size_t i = first; i < hits->count; i++)
            hits->items[i].row = rows->entries[hits->items[i].row];
        return COG_OK;
    }
    for (size_t i = first; i < hits->count && status == COG_OK; i++)
        status = short_hits_add_rows(&expanded, rows, hits->items[i].row, hits->items[i].query,
                                     hits->items[i].distance, first_only, error);
    hits->count = first;
    THEN(status, join(hits, &expanded, 1, error));
    short_hits_free(&expanded);
    return status;
}

struct gathering {
    short_search *search;
    void *context;
    struct short_hits *pieces;
};

static cog_status gather_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    struct gathering *gathering = context;
    return gathering->search(gathering->context, worker, begin, end,
                             &gathering->pieces[begin / SHORT_PIECE_QUERIES], error);
}

cog_status short_hits_gather(struct short_hits *hits, unsigned threads, size_t queries,
                             short_search *search, void *context, cog_error *error) {
    size_t count = (queries + SHORT_PIECE_QUERIES - 1) / SHORT_PIECE_QUERIES;
    struct gathering gathering = {search, context, NULL};
    gathering.pieces = memory_zeroed_array(count, sizeof *gathering.pieces);
    if (!gathering.pieces)
        return error_memory(error, count * sizeof *gathering.pieces, "a search");
    cog_status status =
        parallel_for(threads, queries, SHORT_PIECE_QUERIES, gather_piece, &gathering, error);
    THEN(status, join(hits, gathering.pieces, count, error));
    for (size_t i = 0; i < count; i++)
        short_hits_free(&gathering.pieces[i]);
    free(gathering.pieces);
    return status;
}

cog_status short_hits_sort(struct short_hits *hits, size_t first, unsigned threads,
                           cog_error *error) {
    size_t count = hits->count - first;
    struct key_array sorted;
    cog_status status = key_array_init(&sorted, count, 1, true, error);
    if (status != COG_OK)
        return status;
    uint32_t all = 1;
    for (size_t i = first; i < hits->count; i++)
        all |= hits->items[i].query;
    unsigned shift = (unsigned)__builtin_clz(all); /* the sort is parallel by the highest bits */
    for (size_t i = 0; i < count; i++) {
        const struct short_hit *hit = &hits->items[first + i];
        sorted.keys[i] = ((uint64_t)hit->query << 32 | hit->row) << shift;
        sorted.rows[i] = hit->distance;
    }
    status = key_sort(&sorted, threads, error);
    for (size_t i = 0; status == COG_OK && i < count; i++) {
        uint64_t key = sorted.keys[i] >> shift;
        hits->items[first + i] =
            (struct short_hit){(uint32_t)(key >> 32), (uint32_t)key, sorted.rows[i]};
    }
    key_array_free(&sorted);
    return status;
}

void short_hits_free(struct short_hits *hits) {
    free(hits->items);
    *hits = (struct short_hits){0};
}

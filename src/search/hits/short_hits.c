#include "search/hits/short_hits.h"

#include "base/memory.h"
#include "base/threads.h"

enum { PREFETCH_AHEAD = 16 };

cog_status short_hits_add_rows(struct match_list *hits, const struct key_rows *rows,
                               size_t position, uint32_t query, uint32_t distance, bool first_only,
                               cog_error *error) {
    size_t count;
    const uint32_t *of_key = key_rows_of(rows, position, &count);
    if (first_only)
        count = 1;
    for (size_t i = 0; i < count; i++)
        TRY(match_list_add(hits, (struct match){query, of_key[i], distance, 0}, error));
    return COG_OK;
}

cog_status short_hits_expand(struct match_list *hits, size_t first, const struct key_rows *rows,
                             bool first_only, cog_error *error) {
    struct match_list expanded = {0};
    cog_status status = COG_OK;
    bool grouped = false;
    for (size_t i = first; i < hits->count; i++) {
        const struct match *hit = &hits->items[i];
        if (i + PREFETCH_AHEAD < hits->count)
            __builtin_prefetch(rows->entries + hit[PREFETCH_AHEAD].b);
        if (!key_rows_are_sound(rows, hit->b))
            return error_set(error, COG_ERR_FORMAT,
                             "the rows of short signatures are damaged: build the index again");
        grouped |= rows->entries[hit->b] >> 31 != 0;
    }
    if (!grouped) {
        for (size_t i = first; i < hits->count; i++)
            hits->items[i].b = rows->entries[hits->items[i].b];
        return COG_OK;
    }
    for (size_t i = first; i < hits->count && status == COG_OK; i++)
        status = short_hits_add_rows(&expanded, rows, hits->items[i].b, hits->items[i].a,
                                     hits->items[i].distance, first_only, error);
    hits->count = first;
    THEN(status, match_list_move(hits, &expanded, error));
    match_list_free(&expanded);
    return status;
}

struct gathering {
    short_search_piece *search;
    void *context;
    struct match_list *pieces;
};

static cog_status gather_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    struct gathering *gathering = context;
    return gathering->search(gathering->context, worker, begin, end,
                             &gathering->pieces[begin / SHORT_PIECE_QUERIES], error);
}

cog_status short_hits_gather(struct match_list *hits, unsigned threads, size_t queries,
                             short_search_piece *search, void *context, cog_error *error) {
    size_t count = (queries + SHORT_PIECE_QUERIES - 1) / SHORT_PIECE_QUERIES;
    struct gathering gathering = {search, context, NULL};
    TAKE_ZEROED(gathering.pieces, count, "a search", error);
    cog_status status =
        parallel_for(threads, queries, SHORT_PIECE_QUERIES, gather_piece, &gathering, error);
    for (size_t i = 0; i < count; i++) {
        THEN(status, match_list_move(hits, &gathering.pieces[i], error));
        match_list_free(&gathering.pieces[i]);
    }
    free(gathering.pieces);
    return status;
}

cog_status short_hits_sort(struct match_list *hits, size_t first, unsigned threads,
                           cog_error *error) {
    size_t count = hits->count - first;
    struct key_array sorted;
    TRY(key_array_init(&sorted, count, 1, true, error));
    uint32_t all = 1;
    for (size_t i = first; i < hits->count; i++)
        all |= hits->items[i].a;
    unsigned shift = (unsigned)__builtin_clz(all); /* the sort is parallel by the highest bits */
    for (size_t i = 0; i < count; i++) {
        const struct match *hit = &hits->items[first + i];
        sorted.keys[i] = ((uint64_t)hit->a << 32 | hit->b) << shift;
        sorted.rows[i] = hit->distance;
    }
    cog_status status = key_sort(&sorted, threads, error);
    for (size_t i = 0; status == COG_OK && i < count; i++) {
        uint64_t key = sorted.keys[i] >> shift;
        hits->items[first + i] =
            (struct match){(uint32_t)(key >> 32), (uint32_t)key, sorted.rows[i], 0};
    }
    key_array_free(&sorted);
    return status;
}

cog_status short_search_check(const struct signatures_view *queries, unsigned radius_bits,
                              unsigned stored_bits, cog_error *error) {
    TRY(short_key_check(queries, radius_bits, error));
    if (queries->bits == stored_bits)
        return COG_OK;
    return error_set(error, COG_ERR_USAGE,
                     "queries of %u bits do not fit stored signatures of %u bits", queries->bits,
                     stored_bits);
}

/* ---- Queries in order ------------------------------------------------------------------------ */

static void query_order_free(struct query_order *order) {
    order->keys.count = order->ordered.count = order->rows; /* as they were allocated */
    key_array_free(&order->keys);
    key_array_free(&order->ordered);
}

static cog_status query_order_init(struct query_order *order, const struct signatures_view *view,
                                   unsigned threads, cog_error *error) {
    *order = (struct query_order){.rows = view->rows, .threads = threads};
    cog_status status = key_array_init(&order->keys, view->rows, view->bits / 64, true, error);
    THEN(status, key_array_init(&order->ordered, view->rows, view->bits / 64, true, error));
    THEN(status, key_array_load(&order->keys, 0, view, threads, error));
    if (status != COG_OK)
        query_order_free(order);
    return status;
}

cog_status query_order_by(struct query_order *order, unsigned first_bit, cog_error *error) {
    uint32_t starts[(1 << KEY_PARTITION_BITS_MAX) + 1];
    if (first_bit % 64 > 64 - KEY_PARTITION_BITS_MAX) /* the bits of a pass lie in one word */
        first_bit = first_bit / 64 * 64 + 64 - KEY_PARTITION_BITS_MAX;
    return key_partition(&order->ordered, &order->keys, first_bit, KEY_PARTITION_BITS_MAX, starts,
                         order->threads, error);
}

cog_status query_order_drop(struct query_order *order, const struct match_list *hits, size_t first,
                            cog_error *error) {
    struct key_array *keys = &order->keys;
    bool *has_hit;
    TAKE_ZEROED(has_hit, order->rows, "the queries that have a hit", error);
    for (size_t i = first; i < hits->count; i++)
        has_hit[hits->items[i].a] = true;
    size_t left = 0;
    for (size_t i = 0; i < keys->count; i++) {
        short_key_put(keys->keys, keys->words, left, short_key_at(keys->keys, keys->words, i));
        keys->rows[left] = keys->rows[i];
        left += !has_hit[keys->rows[i]];
    }
    keys->count = order->ordered.count = left;
    free(has_hit);
    return COG_OK;
}

cog_status short_search_chunks(const struct signatures_view *queries,
                               const struct signatures_view *stored, size_t chunk_rows,
                               unsigned threads, short_search_ordered *search, void *context,
                               struct match_list *hits, cog_error *error) {
    struct query_order order;
    size_t before = hits->count;
    TRY(query_order_init(&order, queries, threads, error));
    cog_status status = stored ? COG_OK : search(context, NULL, &order, hits, error);
    for (size_t first = 0;
         stored && first < stored->rows && order.keys.count > 0 && status == COG_OK;
         first += chunk_rows) {
        struct signatures_view chunk = signatures_part(stored, first, chunk_rows);
        size_t known = hits->count;
        status = search(context, &chunk, &order, hits, error);
        for (size_t i = known; i < hits->count; i++)
            hits->items[i].b += (uint32_t)first;
    }
    query_order_free(&order);
    THEN(status, short_hits_sort(hits, before, threads, error));
    return status;
}

/* ---- Behind the descriptors ------------------------------------------------------------------ */

enum {
    BATCH_QUERIES = 1 << 18, /* from here on queries are taken in order */
    QUERY_BYTES = 96,        /* a query in order, its hit, and both while they are sorted */
    CHUNK_ROWS_MIN = 1 << 12
};

/* Memory per row while tables are built: tables, row numbers, the keys twice. */
static double row_bytes(unsigned bits, double copies) {
    return (double)bits / 8 * (5 + copies);
}

void short_predict(const struct method_size *size, double copies,
                   struct method_prediction *prediction) {
    double signature_bytes = (double)size->bits / 8, rows = (double)size->rows;
    prediction->table_bytes = rows * (signature_bytes * copies + sizeof(uint32_t));
    prediction->build_bytes = rows * (row_bytes(size->bits, copies) - signature_bytes);
    prediction->search_bytes =
        (double)size->queries * QUERY_BYTES + rows * row_bytes(size->bits, copies);
}

size_t short_chunk_rows(struct method_search *asked, double copies) {
    const struct signatures_view *view = asked->rows.signatures;
    double rows = (double)view->rows;
    double room =
        (double)asked->memory_bytes - (double)asked->queries.signatures->rows * QUERY_BYTES;
    double fitting = room / row_bytes(view->bits, copies);
    if (asked->memory_bytes > 0 && rows > fitting)
        rows = fitting > CHUNK_ROWS_MIN ? fitting : CHUNK_ROWS_MIN;
    size_t chunk = rows < 1 ? 1 : rows < SHORT_KEY_ROWS_MAX ? (size_t)rows : SHORT_KEY_ROWS_MAX;
    asked->chunks_out = (view->rows + chunk - 1) / chunk;
    return chunk;
}

struct short_search short_search_of(const struct method_search *asked) {
    return (struct short_search){.radius_bits = asked->radius_bits,
                                 .first_only = asked->first,
                                 .batch = asked->queries.signatures->rows >= BATCH_QUERIES,
                                 .threads = asked->threads};
}

cog_status short_hits_finish(struct match_list *hits, const struct method_search *asked,
                             cog_status status, struct hit_lists *lists, cog_error *error) {
    struct hit_sink sink = {0};
    for (size_t i = 0; i < hits->count && status == COG_OK; i++)
        if (hits->items[i].b >= asked->rows.signatures->rows)
            status = error_set(error, COG_ERR_FORMAT,
                               "the rows of short signatures are damaged: build the index again");
    THEN(status, hit_sink_init(&sink, 1, error));
    if (status == COG_OK) {
        sink.workers[0].hits = *hits;
        *hits = (struct match_list){0};
        status =
            hit_sink_finish(&sink, asked->queries.signatures->rows, HITS_BY_DISTANCE, lists, error);
    }
    hit_sink_free(&sink);
    match_list_free(hits);
    return status;
}

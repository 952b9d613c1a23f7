#include "search/lsh/lsh_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum {
    CHUNK_ROWS = 4096,
    CELLS_AHEAD = 24, /* keys: a directory's cell is fetched before its bucket is looked for */
    KEYS_AHEAD = 12,
    COPIED_ROWS = 8, /* at a time: most buckets are shorter */
};

/* ---- Rows under their own keys --------------------------------------------------------------- */

struct own_filling {
    const struct signatures_view *view;
    struct lsh_tables *tables;
};

/* One table per thread at a time: only the keys of tables at work are in memory. */
static cog_status build_own(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    const struct own_filling *filling = context;
    const struct signatures_view *view = filling->view;
    const struct lsh_options *options = &filling->tables->options;
    for (size_t table = begin; table < end; table++) {
        struct key_array entries;
        TRY(key_array_init(&entries, view->rows, 1, true, error));
        for (size_t row = 0; row < view->rows; row++) {
            entries.keys[row] =
                lsh_own_key(options, signature_row(view, row), view->stride_bytes, (unsigned)table);
            entries.rows[row] = (uint32_t)row;
        }
        TRY(key_table_build(&filling->tables->tables[table], &entries, lsh_key_width(options), 1,
                            error));
    }
    return COG_OK;
}

/* ---- Rows under their flipped keys as well --------------------------------------------------- */

/* The keys of a chunk of rows are made twice: first to count them, then to write them to the places
 * that follow from the counts. So rows are in order whichever thread writes them. */
struct filling {
    const struct method_rows *collection;
    const struct lsh_options *options;
    struct key_array *entries; /* NULL while counting */
    uint64_t *places;          /* of chunk c and table t at c * tables + t */
};

static void fill_row(const struct filling *filling, struct lsh_keyer *keyer, struct lsh_key *keys,
                     size_t row, uint64_t *places) {
    const struct signatures_view *view = filling->collection->signatures;
    size_t count =
        lsh_keys_of(keyer, signature_row(view, row), view->stride_bytes,
                    lsh_margins(filling->collection, row), filling->options->flip_both, keys);
    for (size_t i = 0; i < count; i++) {
        uint64_t place = places[keys[i].table]++;
        if (!filling->entries)
            continue;
        filling->entries[keys[i].table].keys[place] = keys[i].key;
        filling->entries[keys[i].table].rows[place] = (uint32_t)row;
    }
}

static cog_status fill_chunks(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)worker;
    const struct filling *filling = context;
    const size_t rows = filling->collection->signatures->rows;
    size_t most = lsh_keys_max(filling->options, filling->options->flip_both);
    struct lsh_key *keys;
    struct lsh_keyer keyer;
    TAKE(keys, most, "keys", error);
    cog_status status = lsh_keyer_create(&keyer, filling->options, error);
    for (size_t chunk = begin; chunk < end && status == COG_OK; chunk++) {
        size_t row = chunk * CHUNK_ROWS, left = rows - row;
        size_t last = row + (left < CHUNK_ROWS ? left : CHUNK_ROWS);
        for (; row < last; row++)
            fill_row(filling, &keyer, keys, row,
                     filling->places + chunk * filling->options->tables);
    }
    lsh_keyer_free(&keyer);
    free(keys);
    return status;
}

/* Turns counts into places and returns the size of the table. */
static uint64_t place_chunks(uint64_t *places, size_t chunks, unsigned tables, unsigned table) {
    uint64_t at = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        uint64_t count = places[chunk * tables + table];
        places[chunk * tables + table] = at;
        at += count;
    }
    return at;
}

static cog_status make_room(struct filling *filling, size_t chunks, struct key_array *entries,
                            cog_error *error) {
    for (unsigned table = 0; table < filling->options->tables; table++) {
        uint64_t count = place_chunks(filling->places, chunks, filling->options->tables, table);
        if (count > UINT32_MAX)
            return error_set(error, COG_ERR_USAGE,
                             "a table of %llu entries: flip fewer bits, or flip in the query only",
                             (unsigned long long)count);
        TRY(key_array_init(&entries[table], count, 1, true, error));
    }
    filling->entries = entries;
    return COG_OK;
}

static cog_status build_filled(struct lsh_tables *tables, struct filling *filling,
                               struct key_array *entries, size_t chunks, unsigned threads,
                               cog_error *error) {
    cog_status status = parallel_for(threads, chunks, 1, fill_chunks, filling, error);
    THEN(status, make_room(filling, chunks, entries, error));
    THEN(status, parallel_for(threads, chunks, 1, fill_chunks, filling, error));
    for (unsigned table = 0; table < tables->options.tables && status == COG_OK; table++)
        status = key_table_build(&tables->tables[table], &entries[table],
                                 lsh_key_width(&tables->options), threads, error);
    return status;
}

static cog_status build_flipped(struct lsh_tables *tables, const struct method_rows *collection,
                                unsigned threads, cog_error *error) {
    const struct lsh_options *options = &tables->options;
    size_t chunks = tables->rows / CHUNK_ROWS + (tables->rows % CHUNK_ROWS != 0);
    struct filling filling = {.collection = collection, .options = options};
    struct key_array *entries;
    TAKE_ZEROED(entries, options->tables, "tables", error);
    cog_status status = TAKEN_ZEROED(filling.places, chunks * options->tables, "tables", error);
    THEN(status, build_filled(tables, &filling, entries, chunks, threads, error));
    for (unsigned table = 0; table < options->tables; table++)
        key_array_free(&entries[table]);
    FREE(entries, filling.places);
    return status;
}

static bool flips_rows(const struct lsh_options *options) {
    return options->flip_both && options->flips && options->flip_mode != LSH_FLIP_NONE;
}

cog_status lsh_tables_build(struct lsh_tables *tables, const struct method_rows *collection,
                            const struct lsh_options *options, unsigned threads, cog_error *error) {
    *tables = (struct lsh_tables){.options = *options, .rows = collection->signatures->rows};
    TRY(lsh_options_check(options, collection->signatures->bits, collection->margins != NULL,
                          error));
    if (tables->rows > UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "more than 4294967295 rows: join in parts");
    TAKE_ZEROED(tables->tables, options->tables, "tables", error);
    struct own_filling own = {collection->signatures, tables};
    cog_status status = flips_rows(options)
                            ? build_flipped(tables, collection, threads, error)
                            : parallel_for(threads, options->tables, 1, build_own, &own, error);
    if (status != COG_OK)
        lsh_tables_free(tables);
    return status;
}

void lsh_tables_free(struct lsh_tables *tables) {
    for (unsigned table = 0; tables->tables && table < tables->options.tables; table++)
        key_table_free(&tables->tables[table]);
    free(tables->tables);
    *tables = (struct lsh_tables){0};
}

/* Without flipped keys, each thread finishes one table at a time; with them, the entries of all
 * tables are in memory before the first is finished. */
uint64_t lsh_tables_memory_bytes(const struct lsh_options *options, size_t rows, unsigned threads) {
    enum { ENTRY_BYTES = sizeof(uint64_t) + sizeof(uint32_t) };
    const uint64_t tables = options->tables, keys = lsh_keys_max(options, true);
    if (flips_rows(options))
        return rows * (keys + keys / tables) * ENTRY_BYTES;
    return tables * key_table_bytes_of(rows, lsh_key_width(options)) +
           (uint64_t)threads_resolve(threads) * 2 * rows * ENTRY_BYTES;
}

size_t lsh_tables_bytes(const struct lsh_tables *tables) {
    size_t bytes = 0;
    for (unsigned table = 0; table < tables->options.tables; table++)
        bytes += key_table_bytes(&tables->tables[table]);
    return bytes;
}

/* ---- Probing --------------------------------------------------------------------------------- */

cog_status lsh_probing_create(struct lsh_probing *probing, const struct lsh_tables *tables,
                              cog_error *error) {
    *probing = (struct lsh_probing){.tables = tables};
    size_t most = lsh_keys_max(&tables->options, true);
    cog_status status = lsh_keyer_create(&probing->keyer, &tables->options, error);
    THEN(status, TAKEN(probing->keys, most, "probes", error));
    THEN(status, TAKEN(probing->buckets, most, "probes", error));
    THEN(status, TAKEN_ZEROED(probing->seen, tables->rows / 64 + 1, "probes", error));
    if (status != COG_OK)
        lsh_probing_free(probing);
    return status;
}

void lsh_probing_free(struct lsh_probing *probing) {
    lsh_keyer_free(&probing->keyer);
    FREE(probing->keys, probing->buckets, probing->seen, probing->candidates);
    *probing = (struct lsh_probing){0};
}

/* Finds the buckets of the keys and prefetches their rows; returns the number of rows. Each step is
 * a cache miss, so the steps of many keys overlap. */
static size_t find_buckets(struct lsh_probing *probing, size_t count) {
    const struct key_table *tables = probing->tables->tables;
    const struct lsh_key *keys = probing->keys;
    size_t rows = 0;
    for (size_t i = 0; i < CELLS_AHEAD && i < count; i++)
        key_table_prefetch_cell(&tables[keys[i].table], keys[i].key);
    for (size_t i = 0; i < count; i++) {
        size_t ahead = i + CELLS_AHEAD, between = i + KEYS_AHEAD;
        if (ahead < count)
            key_table_prefetch_cell(&tables[keys[ahead].table], keys[ahead].key);
        if (between < count)
            key_table_prefetch_keys(&tables[keys[between].table], keys[between].key);
        probing->buckets[i] = key_table_find(&tables[keys[i].table], keys[i].key);
        __builtin_prefetch(probing->buckets[i].rows);
        rows += probing->buckets[i].count;
    }
    return rows;
}

/* Copies the rows of all buckets one after the other; `rows` has room for COPIED_ROWS more. */
static void copy_buckets(const struct lsh_probing *probing, size_t count, uint32_t *rows) {
    for (size_t i = 0; i < count; i++) {
        const struct key_range *bucket = &probing->buckets[i];
        const struct key_array *all = &probing->tables->tables[probing->keys[i].table].entries;
        if (bucket->count <= COPIED_ROWS && all->count >= COPIED_ROWS &&
            bucket->rows <= all->rows + (all->count - COPIED_ROWS))
            memcpy(rows, bucket->rows, COPIED_ROWS * sizeof *rows);
        else if (bucket->count)
            memcpy(rows, bucket->rows, bucket->count * sizeof *rows);
        rows += bucket->count;
    }
}

/* Keeps each row below row_end once. */
static void drop_seen(struct lsh_probing *probing, size_t count, size_t row_end) {
    uint32_t *rows = probing->candidates;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = rows[i];
        const uint64_t below = row < row_end, bit = below << row % 64;
        rows[kept] = row;
        kept += below & ~(probing->seen[row / 64] >> row % 64);
        probing->seen[row / 64] |= bit;
        probing->entries += below;
    }
    for (size_t i = 0; i < kept; i++)
        probing->seen[rows[i] / 64] = 0;
    probing->candidate_count = kept;
}

cog_status lsh_probe(struct lsh_probing *probing, const uint8_t *signature, size_t stride_bytes,
                     const float *margins, size_t row_end, cog_error *error) {
    size_t count =
        lsh_keys_of(&probing->keyer, signature, stride_bytes, margins, true, probing->keys);
    size_t rows = find_buckets(probing, count);
    GROW(probing->candidates, probing->candidate_capacity, rows + COPIED_ROWS, "candidates", error);
    copy_buckets(probing, count, probing->candidates);
    drop_seen(probing, rows, row_end);
    return COG_OK;
}

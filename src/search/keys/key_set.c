#include "search/keys/key_set.h"

#include "base/memory.h"
#include "base/threads.h"

cog_status short_key_check(const struct signatures_view *view, unsigned radius_bits,
                           cog_error *error) {
    if (view->bits != 64 && view->bits != 128)
        return error_about(error, COG_ERR_USAGE, "bits",
                           "signatures of %u bits: this method takes 64 or 128; use another "
                           "for wider ones",
                           view->bits);
    if (view->rows > SHORT_KEY_ROWS_MAX)
        return error_set(error, COG_ERR_USAGE,
                         "%zu signatures: this method takes at most %d; split the collection",
                         view->rows, SHORT_KEY_ROWS_MAX);
    if (radius_bits > SHORT_KEY_RADIUS_MAX)
        return error_set(error, COG_ERR_USAGE,
                         "radius %u: this method takes at most %d bits; use another method",
                         radius_bits, SHORT_KEY_RADIUS_MAX);
    return COG_OK;
}

struct load_job {
    const struct signatures_view *view;
    struct key_array *keys;
    size_t first;
};

static cog_status load_keys(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    (void)error;
    struct load_job *job = context;
    for (size_t row = begin; row < end; row++) {
        size_t place = job->first + row;
        short_key_put(job->keys->keys, job->keys->words, place, short_key_of_row(job->view, row));
        job->keys->rows[place] = (uint32_t)place;
    }
    return COG_OK;
}

cog_status key_array_load(struct key_array *keys, size_t first, const struct signatures_view *view,
                          unsigned threads, cog_error *error) {
    struct load_job load = {view, keys, first};
    return parallel_for(threads, view->rows, 1 << 16, load_keys, &load, error);
}

static size_t run_end(const struct key_array *keys, size_t begin) {
    size_t end = begin + 1;
    const uint64_t *first = keys->keys + begin * keys->words;
    while (end < keys->count &&
           memcmp(keys->keys + end * keys->words, first, keys->words * sizeof *first) == 0)
        end++;
    return end;
}

/* The words of `groups`: a count and the rows for every run of two or more equal keys. */
static size_t count_group_words(const struct key_array *keys) {
    size_t words = 0;
    for (size_t begin = 0, end; begin < keys->count; begin = end) {
        end = run_end(keys, begin);
        if (end - begin > 1)
            words += 1 + end - begin;
    }
    return words;
}

/* Keeps one key of each run, in place, and moves the rows to entries or groups. */
static void fold_runs(struct key_set *set) {
    struct key_array *keys = &set->keys;
    struct key_rows *rows = &set->rows;
    size_t distinct = 0, used = 0;
    for (size_t begin = 0, end; begin < keys->count; begin = end, distinct++) {
        end = run_end(keys, begin);
        uint32_t entry = keys->rows[begin];
        if (end - begin > 1) {
            entry = (uint32_t)used | 0x80000000u;
            rows->groups[used++] = (uint32_t)(end - begin);
            memcpy(rows->groups + used, keys->rows + begin, (end - begin) * sizeof *keys->rows);
            used += end - begin;
        }
        short_key_put(keys->keys, keys->words, distinct,
                      short_key_at(keys->keys, keys->words, begin));
        rows->entries[distinct] = entry;
    }
    rows->entry_count = distinct;
}

/* Copies the first `count` keys to an array of that size. */
static cog_status shrink_keys(struct key_array *keys, size_t count, cog_error *error) {
    struct key_array exact;
    TRY(key_array_init(&exact, count, keys->words, false, error));
    if (count > 0)
        memcpy(exact.keys, keys->keys, count * keys->words * sizeof *exact.keys);
    key_array_free(keys);
    *keys = exact;
    return COG_OK;
}

cog_status key_set_from(struct key_set *set, struct key_array *keys, unsigned threads,
                        cog_error *error) {
    *set = (struct key_set){.keys = *keys};
    *keys = (struct key_array){0};
    size_t rows = set->keys.count;
    cog_status status = key_sort(&set->keys, threads, error);
    if (status == COG_OK) {
        size_t words = count_group_words(&set->keys);
        set->rows.group_words = words;
        set->rows.entries_bytes = rows * sizeof *set->rows.entries;
        set->rows.entries = memory_large(set->rows.entries_bytes);
        set->rows.groups = memory_array(words, sizeof *set->rows.groups);
        if (!set->rows.entries || !set->rows.groups || words > 0x7fffffff)
            status = error_memory(error, (rows + words) * 4, "the rows of signatures");
    }
    if (status == COG_OK) {
        fold_runs(set);
        status = shrink_keys(&set->keys, set->rows.entry_count, error);
    }
    if (status != COG_OK)
        key_set_free(set);
    return status;
}

cog_status key_set_build(struct key_set *set, const struct signatures_view *view, unsigned threads,
                         cog_error *error) {
    struct key_array keys;
    *set = (struct key_set){0};
    TRY(key_array_init(&keys, view->rows, view->bits / 64, true, error));
    cog_status status = key_array_load(&keys, 0, view, threads, error);
    if (status == COG_OK)
        return key_set_from(set, &keys, threads, error);
    key_array_free(&keys);
    return status;
}

void key_rows_free(struct key_rows *rows) {
    memory_large_free(rows->entries, rows->entries_bytes);
    free(rows->groups);
    *rows = (struct key_rows){0};
}

void key_set_free(struct key_set *set) {
    key_array_free(&set->keys);
    key_rows_free(&set->rows);
}

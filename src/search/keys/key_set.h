/* The distinct keys of a collection in order, and which rows have each: equal signatures are stored
 * and compared once, however many there are. */
#pragma once

#include "search/keys/key_sort.h"
#include "search/keys/short_key.h"

/* The rows of key i: entries[i] itself, or where its highest bit is set, a place in `groups` that
 * holds their number and then the rows, rising. */
struct key_rows {
    uint32_t *entries;
    uint32_t *groups;
    size_t entry_count, group_words;
    size_t entries_bytes; /* as allocated, on large pages */
};

struct key_set {
    struct key_array keys; /* its rows field is NULL; count is that of distinct keys */
    struct key_rows rows;
};

/* The rows of key i, borrowed; *count is how many. */
static inline const uint32_t *key_rows_of(const struct key_rows *rows, size_t i, size_t *count) {
    uint32_t entry = rows->entries[i];
    if (entry >> 31 == 0) {
        *count = 1;
        return &rows->entries[i];
    }
    const uint32_t *group = rows->groups + (entry & 0x7fffffff);
    *count = group[0];
    return group + 1;
}

/* Whether key_rows_of may be asked: always, but for rows in a damaged file. */
static inline bool key_rows_are_sound(const struct key_rows *rows, size_t i) {
    if (i >= rows->entry_count)
        return false;
    uint32_t entry = rows->entries[i], place = entry & 0x7fffffff;
    return entry >> 31 == 0 || (place < rows->group_words && rows->groups[place] > 0 &&
                                rows->groups[place] < rows->group_words - place);
}

cog_status key_set_build(struct key_set *set, const struct signatures_view *view, unsigned threads,
                         cog_error *error);
/* From keys with rows, in the order of their rows; takes the array over, also on failure. */
cog_status key_set_from(struct key_set *set, struct key_array *keys, unsigned threads,
                        cog_error *error);
/* The view's keys go to `keys` from number `first` on, with rows from `first` on. */
cog_status key_array_load(struct key_array *keys, size_t first, const struct signatures_view *view,
                          unsigned threads, cog_error *error);
void key_rows_free(struct key_rows *rows);
void key_set_free(struct key_set *set);

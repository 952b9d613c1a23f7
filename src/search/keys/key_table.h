/* A table of rows by key, for keys of up to 64 bits. In: keys with rows. Out: the rows of a key, in
 * insertion order. The table holds the rows sorted by key and a directory of the keys' first bits,
 * with about one entry per cell. If the directory spans the whole key, the keys are not kept. A
 * look-up costs two memory accesses. */
#pragma once

#include "base/memory.h"
#include "search/keys/key_sort.h"

/* Zero-initialise; key_table_free releases. */
struct key_table {
    struct key_array entries; /* sorted by key, equal keys in insertion order; keys may be NULL */
    uint32_t *starts;         /* of each value of the first directory_bits bits, and the end */
    unsigned directory_bits;
};

struct key_range {
    const uint32_t *rows; /* borrowed */
    size_t count;
};

/* Takes over the entries. A key of key_bits bits is left-aligned in its word. */
cog_status key_table_build(struct key_table *table, struct key_array *entries, unsigned key_bits,
                           unsigned threads, cog_error *error);
void key_table_free(struct key_table *table);
size_t key_table_bytes(const struct key_table *table);
/* The same for a table of `count` entries that is not built yet. */
size_t key_table_bytes_of(size_t count, unsigned key_bits);

/* The first position in [begin, end) whose key is at least `key`. */
static inline size_t key_table_place(const struct key_table *table, size_t begin, size_t end,
                                     uint64_t key) {
    size_t place;
    FIND_FIRST_NOT(place, begin, end, table->entries.keys[place] < key);
    return place;
}

static inline uint64_t key_table_cell(const struct key_table *table, uint64_t key) {
    return table->directory_bits ? key >> (64 - table->directory_bits) : 0;
}

/* Prefetch what key_table_find reads, for callers that know their keys beforehand: first the
 * directory, then, when that has arrived, the keys. */
static inline void key_table_prefetch_cell(const struct key_table *table, uint64_t key) {
    if (table->starts)
        __builtin_prefetch(&table->starts[key_table_cell(table, key)]);
}

static inline void key_table_prefetch_keys(const struct key_table *table, uint64_t key) {
    if (table->starts && table->entries.keys)
        __builtin_prefetch(&table->entries.keys[table->starts[key_table_cell(table, key)]]);
}

/* The rows with this left-aligned key, in the order in which they came. */
static inline struct key_range key_table_find(const struct key_table *table, uint64_t key) {
    if (!table->starts)
        return (struct key_range){NULL, 0};
    uint64_t cell = key_table_cell(table, key);
    size_t begin = table->starts[cell], end = table->starts[cell + 1];
    if (table->entries.keys) {
        begin = key_table_place(table, begin, end, key);
        size_t last = begin;
        while (last < end && table->entries.keys[last] == key)
            last++;
        end = last;
    }
    return (struct key_range){table->entries.rows + begin, end - begin};
}

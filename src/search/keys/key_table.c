#include "search/keys/key_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { DIRECTORY_BITS_MAX = 26, COUNTED_BYTES = 8 << 20 /* about the size of the caches */ };

/* About one entry per cell, and never more cells than possible keys. */
static unsigned directory_bits(size_t count, unsigned key_bits) {
    unsigned bits = 1;
    while (bits < DIRECTORY_BITS_MAX && (size_t)1 << bits < count)
        bits++;
    return bits < key_bits ? bits : key_bits;
}

static void find_starts(const struct key_array *sorted, uint32_t *starts, unsigned bits) {
    size_t at = 0;
    for (size_t cell = 0; cell < (size_t)1 << bits; cell++) {
        while (at < sorted->count && sorted->keys[at] >> (64 - bits) < cell)
            at++;
        starts[cell] = (uint32_t)at;
    }
    starts[(size_t)1 << bits] = (uint32_t)sorted->count;
}

/* If the directory spans the whole key, a counting sort places the rows; no keys are sorted. */
static cog_status place_by_count(struct key_table *table, cog_error *error) {
    const struct key_array *from = &table->entries;
    const unsigned shift = 64 - table->directory_bits;
    const size_t cells = (size_t)1 << table->directory_bits;
    struct key_array placed;
    TRY(key_array_init(&placed, from->count, 0, true, error));
    memset(table->starts, 0, (cells + 1) * sizeof *table->starts);
    for (size_t i = 0; i < from->count; i++)
        table->starts[from->keys[i] >> shift]++;
    for (size_t cell = 0, at = 0; cell <= cells; cell++) {
        at += table->starts[cell];
        table->starts[cell] = (uint32_t)at; /* the end; placing the rows turns it into the start */
    }
    for (size_t i = from->count; i-- > 0;)
        placed.rows[--table->starts[from->keys[i] >> shift]] = from->rows[i];
    key_array_free(&table->entries);
    table->entries = placed;
    return COG_OK;
}

cog_status key_table_build(struct key_table *table, struct key_array *entries, unsigned key_bits,
                           unsigned threads, cog_error *error) {
    table->entries = *entries;
    *entries = (struct key_array){0};
    size_t count = table->entries.count;
    if (count == 0)
        return COG_OK;
    table->directory_bits = directory_bits(count, key_bits);
    const size_t cells = (size_t)1 << table->directory_bits;
    const bool whole = table->directory_bits == key_bits;
    TAKE(table->starts, cells + 1, "the directory of a table", error);
    if (whole && (cells + count) * sizeof *table->starts <= COUNTED_BYTES)
        return place_by_count(table, error);
    cog_status status = key_sort(&table->entries, threads, error);
    if (status == COG_OK)
        find_starts(&table->entries, table->starts, table->directory_bits);
    if (status == COG_OK && whole)
        key_array_free_keys(&table->entries);
    return status;
}

void key_table_free(struct key_table *table) {
    key_array_free(&table->entries);
    free(table->starts);
    *table = (struct key_table){0};
}

size_t key_table_bytes_of(size_t count, unsigned key_bits) {
    const unsigned bits = directory_bits(count, key_bits);
    return count * (sizeof(uint32_t) + (bits < key_bits ? sizeof(uint64_t) : 0)) +
           (((size_t)1 << bits) + 1) * sizeof(uint32_t);
}

size_t key_table_bytes(const struct key_table *table) {
    size_t entry_bytes = sizeof(uint32_t) + (table->entries.keys ? sizeof(uint64_t) : 0);
    size_t cells = table->starts ? ((size_t)1 << table->directory_bits) + 1 : 0;
    return table->entries.count * entry_bytes + cells * sizeof *table->starts;
}

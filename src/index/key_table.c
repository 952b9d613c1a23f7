#include "index/key_table.h"

#include <stdlib.h>

#include "base/memory.h"

enum { DIRECTORY_BITS_MAX = 26 };

/* About one entry a cell, and never more cells than keys. */
static unsigned directory_bits(size_t count, unsigned key_bits) {
    unsigned bits = 1;
    while (bits < DIRECTORY_BITS_MAX && (size_t)1 << bits < count)
        bits++;
    return bits < key_bits ? bits : key_bits;
}

cog_status key_table_build(struct key_table *table, struct key_array *entries, unsigned key_bits,
                           unsigned threads, cog_error *error) {
    table->entries = *entries;
    *entries = (struct key_array){0};
    size_t count = table->entries.count;
    if (count == 0)
        return COG_OK;
    cog_status status = key_sort(&table->entries, threads, error);
    if (status != COG_OK)
        return status;
    unsigned bits = directory_bits(count, key_bits);
    size_t cells = (size_t)1 << bits, at = 0;
    table->directory_bits = bits;
    table->starts = memory_array(cells + 1, sizeof *table->starts);
    if (!table->starts)
        return error_memory(error, cells * sizeof *table->starts, "the directory of a table");
    for (size_t cell = 0; cell < cells; cell++) {
        while (at < count && table->entries.keys[at] >> (64 - bits) < cell)
            at++;
        table->starts[cell] = (uint32_t)at;
    }
    table->starts[cells] = (uint32_t)count;
    if (bits == key_bits)
        key_array_free_keys(&table->entries);
    return COG_OK;
}

void key_table_free(struct key_table *table) {
    key_array_free(&table->entries);
    free(table->starts);
    *table = (struct key_table){0};
}

size_t key_table_bytes(const struct key_table *table) {
    size_t entry_bytes = sizeof(uint32_t) + (table->entries.keys ? sizeof(uint64_t) : 0);
    size_t cells = table->starts ? ((size_t)1 << table->directory_bits) + 1 : 0;
    return table->entries.count * entry_bytes + cells * sizeof *table->starts;
}

#include "base/word_table.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"

enum { FIRST_SLOTS = 1024 };

/* The slot of the word, or the free one where it belongs. */
static size_t find_slot(const struct word_table *table, uint64_t hash) {
    size_t at;
    HASH_PROBE(at, hash_mix(hash), table->slot_count,
               !table->slots[at] || table->hashes[table->slots[at] - 1] == hash);
    return at;
}

static cog_status grow_slots(struct word_table *table, cog_error *error) {
    if (table->slot_count > table->count + table->count / 2 + 1)
        return COG_OK;
    size_t slot_count = table->slot_count ? table->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots;
    TAKE_ZEROED(slots, slot_count, "a table of words", error);
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    for (size_t word = 0; word < table->count; word++)
        table->slots[find_slot(table, table->hashes[word])] = (uint32_t)word + 1;
    return COG_OK;
}

static cog_status append_word(struct word_table *table, uint64_t hash, struct bytes_view string,
                              cog_error *error) {
    size_t needed = table->count + 1;
    if (needed >= WORD_NONE)
        return error_set(error, COG_ERR_MEMORY, "more than 4 billion distinct words");
    GROW(table->hashes, table->hash_capacity, needed, "a table of words", error);
    GROW(table->counts, table->count_capacity, needed, "a table of words", error);
    GROW(table->ends, table->end_capacity, needed, "a table of words", error);
    if (!buffer_reserve(&table->strings, string.size + 1) || /* an empty word has a place too */
        !buffer_append(&table->strings, string.data, string.size))
        return error_memory(error, string.size + 24, "a table of words");
    table->hashes[table->count] = hash;
    table->counts[table->count] = 0;
    table->ends[table->count++] = table->strings.size;
    return COG_OK;
}

cog_status word_table_add(struct word_table *table, uint64_t hash, struct bytes_view string,
                          uint64_t times, uint32_t *word, cog_error *error) {
    TRY(grow_slots(table, error));
    size_t slot = find_slot(table, hash);
    if (!table->slots[slot]) {
        TRY(append_word(table, hash, string, error));
        table->slots[slot] = (uint32_t)table->count;
    }
    *word = table->slots[slot] - 1;
    table->counts[*word] += times;
    return COG_OK;
}

cog_status word_table_add_string(struct word_table *table, struct bytes_view string, uint64_t times,
                                 uint32_t *word, cog_error *error) {
    return word_table_add(table, hash_bytes(string.data, string.size), string, times, word, error);
}

uint32_t word_table_find(const struct word_table *table, uint64_t hash) {
    if (!table->slot_count)
        return WORD_NONE;
    return table->slots[find_slot(table, hash)] - 1; /* 0 - 1 is WORD_NONE */
}

struct bytes_view word_table_string(const struct word_table *table, uint32_t word) {
    size_t begin = word ? table->ends[word - 1] : 0;
    return view_of(table->strings.data + begin, table->ends[word] - begin);
}

void word_table_free(struct word_table *table) {
    FREE(table->hashes, table->counts, table->ends, table->slots);
    buffer_free(&table->strings);
    *table = (struct word_table){0};
}

/* Word table: distinct words numbered densely in the order of first addition, each with its string,
 * hash and count. About 40 bytes per word, plus its string. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

enum { WORD_NONE = UINT32_MAX };

/* Zero-initialise; word_table_free releases. */
struct word_table {
    size_t count;
    uint64_t *hashes;
    uint64_t *counts;
    size_t *ends; /* word w is strings.data[ends[w - 1] .. ends[w]) */
    struct buffer strings;
    uint32_t *slots; /* number of the word + 1, 0 if free; slot_count is a power of two */
    size_t slot_count;
    size_t hash_capacity, count_capacity, end_capacity;
};

/* Adds the word `times` times and returns its number; a new word gets the next number. */
cog_status word_table_add(struct word_table *table, uint64_t hash, struct bytes_view string,
                          uint64_t times, uint32_t *word, cog_error *error);
/* word_table_add with the hash of the string. */
cog_status word_table_add_string(struct word_table *table, struct bytes_view string, uint64_t times,
                                 uint32_t *word, cog_error *error);
/* WORD_NONE if the table does not have the word. */
uint32_t word_table_find(const struct word_table *table, uint64_t hash);
struct bytes_view word_table_string(const struct word_table *table, uint32_t word);
void word_table_free(struct word_table *table);

/* All word pairs that occur together in a sentence pair, with the probabilities of both directions
 * and the counts of the current iteration: 24 bytes per entry.
 *
 * Shards by source word are built and normalised in parallel. Each is an open-addressing hash table
 * of its own, because the aligner prefetches entries. Counts are fixed-point integers, so sums do
 * not depend on the order of addition. */
#pragma once

#include "base/hash.h"
#include "crosslingual/pair_corpus.h"

/* A count is an integer in units of 2^-shift. A posterior is at most 1, so the rarer the pair, the
 * larger the shift may be: 31 for a pair that occurs once. */
struct pair_entry {
    uint64_t key; /* from + 1 in 29 bits, to in 29 bits, shift in 6; 0 if free */
    float to_given_from;
    float from_given_to;
    uint32_t to_count;
    uint32_t from_count;
};
_Static_assert(sizeof(struct pair_entry) == 24, "an entry of the table of pairs");

enum { PAIR_SHARDS = 64, PAIR_WORD_BITS = 29, PAIR_SHIFT_BITS = 6, PAIR_UNIT_BITS = 31 };

struct pair_shard {
    struct pair_entry *entries;
    uint64_t mask; /* number of entries - 1 */
    size_t used;
};

struct pair_table {
    struct pair_shard shards[PAIR_SHARDS];
    size_t from_words, to_words;
};

/* Makes the table of all pairs of the corpus, with all probabilities 1 (uniform). COG_ERR_MEMORY as
 * soon as it exceeds limit_bytes (0: no limit). */
cog_status pair_table_create(const struct pair_corpus *corpus, uint64_t limit_bytes,
                             unsigned threads, struct pair_table **table, cog_error *error);
void pair_table_free(struct pair_table *table);
size_t pair_table_used(const struct pair_table *table);
uint64_t pair_table_memory_bytes(const struct pair_table *table);

/* The next used entry of a shard after `entry` (NULL: the first); NULL after the last. */
static inline struct pair_entry *pair_shard_next(const struct pair_shard *shard,
                                                 struct pair_entry *entry) {
    entry = entry ? entry + 1 : shard->entries;
    while (entry <= shard->entries + shard->mask && !entry->key)
        entry++;
    return entry <= shard->entries + shard->mask ? entry : NULL;
}

static inline uint64_t pair_key(uint32_t from, uint32_t to) {
    return ((uint64_t)from + 1) << PAIR_WORD_BITS | to;
}

static inline uint64_t pair_hash(uint64_t key) {
    return (key * 0x9e3779b97f4a7c15u) ^ (key >> 23) * 0xbf58476d1ce4e5b9u;
}

static inline unsigned pair_shard_of(uint32_t from) {
    return (from * 0x9e3779b1u) >> 26;
}

static inline uint32_t entry_from(const struct pair_entry *entry) {
    return (uint32_t)(entry->key >> (PAIR_WORD_BITS + PAIR_SHIFT_BITS)) - 1;
}

static inline uint32_t entry_to(const struct pair_entry *entry) {
    return (uint32_t)(entry->key >> PAIR_SHIFT_BITS) & ((1u << PAIR_WORD_BITS) - 1);
}

static inline unsigned entry_shift(const struct pair_entry *entry) {
    return (unsigned)entry->key & ((1u << PAIR_SHIFT_BITS) - 1);
}

/* The slot where the search for a pair begins; prefetch it. */
static inline struct pair_entry *pair_table_start(const struct pair_table *table, uint32_t from,
                                                  uint32_t to) {
    const struct pair_shard *shard = &table->shards[pair_shard_of(from)];
    return &shard->entries[(pair_hash(pair_key(from, to)) >> 16) & shard->mask];
}

/* The entry of a pair that is in the table. */
static inline struct pair_entry *pair_table_find(const struct pair_table *table, uint32_t from,
                                                 uint32_t to, struct pair_entry *start) {
    const struct pair_shard *shard = &table->shards[pair_shard_of(from)];
    uint64_t key = pair_key(from, to);
    struct pair_entry *entry = start, *end = shard->entries + shard->mask + 1;
    while (entry->key >> PAIR_SHIFT_BITS != key)
        if (++entry == end)
            entry = shard->entries;
    return entry;
}

#include "crosslingual/pair_table.h"

#include <string.h>

#include "base/hash_table.h"
#include "base/memory.h"
#include "base/threads.h"

enum { FIRST_ENTRIES = 1024 };

static size_t shard_bytes(const struct pair_shard *shard) {
    return (shard->mask + 1) * sizeof *shard->entries;
}

static uint64_t shard_memory_bytes(const struct pair_shard *shard) {
    return shard->entries ? memory_large_bytes(shard_bytes(shard)) : 0;
}

struct table_building {
    const struct pair_corpus *corpus;
    struct pair_table *table;
    uint64_t limit_bytes; /* 0: none */
    uint64_t used_bytes;  /* atomic */
    bool is_over;         /* atomic */
};

/* The entry of the key, or the free one where it belongs. */
static struct pair_entry *find_place(const struct pair_shard *shard, uint64_t key) {
    size_t at;
    HASH_PROBE(at, pair_hash(key) >> 16, shard->mask + 1,
               !shard->entries[at].key || shard->entries[at].key >> PAIR_SHIFT_BITS == key);
    return &shard->entries[at];
}

/* Counts the bytes and returns whether they are within the limit. */
static bool take_bytes(struct table_building *building, uint64_t bytes) {
    uint64_t used = __atomic_add_fetch(&building->used_bytes, bytes, __ATOMIC_RELAXED);
    if (building->limit_bytes == 0 || used <= building->limit_bytes)
        return true;
    __atomic_store_n(&building->is_over, true, __ATOMIC_RELAXED);
    return false;
}

static bool shard_resize(struct table_building *building, struct pair_shard *shard,
                         size_t entry_count) {
    struct pair_shard grown = {.mask = entry_count - 1, .used = shard->used};
    if (!take_bytes(building, memory_large_bytes(shard_bytes(&grown))))
        return false;
    grown.entries = memory_large(shard_bytes(&grown));
    if (!grown.entries)
        return false;
    for (struct pair_entry *entry = NULL;
         shard->entries && (entry = pair_shard_next(shard, entry));)
        *find_place(&grown, entry->key >> PAIR_SHIFT_BITS) = *entry;
    __atomic_sub_fetch(&building->used_bytes, shard_memory_bytes(shard), __ATOMIC_RELAXED);
    memory_large_free(shard->entries, shard_bytes(shard));
    *shard = grown;
    return true;
}

/* Counts in to_count how often the pair occurs. */
static bool shard_meet(struct table_building *building, struct pair_shard *shard, uint64_t key) {
    struct pair_entry *entry = find_place(shard, key);
    if (!entry->key) {
        if (shard->used >= (shard->mask + 1) / 4 * 3) {
            if (!shard_resize(building, shard, (shard->mask + 1) * 2))
                return false;
            entry = find_place(shard, key);
        }
        entry->key = key << PAIR_SHIFT_BITS;
        shard->used++;
    }
    if (entry->to_count < 1u << PAIR_UNIT_BITS)
        entry->to_count++;
    return true;
}

/* Sets the unit of the counts from the number of occurrences, and uniform probabilities. */
static void shard_start(struct pair_shard *shard) {
    for (struct pair_entry *entry = NULL; (entry = pair_shard_next(shard, entry));) {
        unsigned bits = entry->to_count > 1 ? 32 - (unsigned)__builtin_clz(entry->to_count - 1) : 0;
        entry->key |= PAIR_UNIT_BITS - bits;
        entry->to_given_from = entry->from_given_to = 1;
        entry->to_count = entry->from_count = 0;
    }
}

/* Every shard reads the whole text for its words. That costs one test per word, while the pairs
 * cost more and stay in the cache. */
static cog_status build_shard(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)worker;
    (void)end;
    struct table_building *building = context;
    const struct pair_side *from = &building->corpus->from, *to = &building->corpus->to;
    struct pair_shard *shard = &building->table->shards[begin];
    bool enough = shard_resize(building, shard, FIRST_ENTRIES);
    for (size_t s = 0; s < building->corpus->count && enough; s++) {
        uint64_t to_begin = pair_side_begin(to, s), to_end = to->ends[s];
        for (uint64_t i = pair_side_begin(from, s); i < from->ends[s]; i++) {
            uint32_t word = from->words[i];
            if (word == WORD_NONE || pair_shard_of(word) != begin)
                continue;
            for (uint64_t j = to_begin; j < to_end && enough; j++)
                if (to->words[j] != WORD_NONE)
                    enough = shard_meet(building, shard, pair_key(word, to->words[j]));
        }
    }
    if (!enough && __atomic_load_n(&building->is_over, __ATOMIC_RELAXED))
        return error_about(
            error, COG_ERR_MEMORY, "memory_bytes",
            "the table of word pairs is larger than %llu MB: raise the memory budget, or give "
            "less parallel text",
            (unsigned long long)(building->limit_bytes >> 20));
    if (!enough)
        return error_memory(error, shard_bytes(shard) * 2, "the table of word pairs");
    shard_start(shard);
    return COG_OK;
}

cog_status pair_table_create(const struct pair_corpus *corpus, uint64_t limit_bytes,
                             unsigned threads, struct pair_table **result, cog_error *error) {
    uint64_t limit = (1u << PAIR_WORD_BITS) - 2;
    if (corpus->from.vocabulary.count > limit || corpus->to.vocabulary.count > limit)
        return error_set(error, COG_ERR_MEMORY, "more than half a billion distinct words");
    struct pair_table *table;
    TAKE_ZEROED(table, 1, "the table of word pairs", error);
    table->from_words = corpus->from.vocabulary.count;
    table->to_words = corpus->to.vocabulary.count;
    struct table_building building = {.corpus = corpus, .table = table, .limit_bytes = limit_bytes};
    cog_status status = parallel_for(threads, PAIR_SHARDS, 1, build_shard, &building, error);
    return HAND_OUT(status, table, pair_table_free, result);
}

void pair_table_free(struct pair_table *table) {
    if (!table)
        return;
    for (int i = 0; i < PAIR_SHARDS; i++)
        memory_large_free(table->shards[i].entries, shard_bytes(&table->shards[i]));
    free(table);
}

size_t pair_table_used(const struct pair_table *table) {
    size_t used = 0;
    for (int i = 0; i < PAIR_SHARDS; i++)
        used += table->shards[i].used;
    return used;
}

uint64_t pair_table_memory_bytes(const struct pair_table *table) {
    uint64_t bytes = sizeof *table;
    for (int i = 0; i < PAIR_SHARDS; i++)
        bytes += shard_memory_bytes(&table->shards[i]);
    return bytes;
}

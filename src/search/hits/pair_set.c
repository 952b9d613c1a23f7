#include "search/hits/pair_set.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"

static const uint32_t EMPTY = UINT32_MAX; /* no distance is that large */
enum { FIRST_CAPACITY = 64 };

static uint64_t pair_hash(const struct row_pair *pair) {
    return hash_mix((uint64_t)pair->a << 32 | pair->b);
}

static unsigned shard_of(uint64_t hash) {
    return (unsigned)(hash % PAIR_SHARDS);
}

void pair_set_init(struct pair_set *set, size_t limit, const struct match_sieve *sieve) {
    set->sieve = sieve;
    set->limit = sieve ? 0 : limit;
    set->count = 0;
    for (int i = 0; i < PAIR_SHARDS; i++) {
        set->shards[i] = (struct pair_shard){0};
        pthread_mutex_init(&set->shards[i].lock, NULL);
    }
}

void pair_set_free(struct pair_set *set) {
    for (int i = 0; i < PAIR_SHARDS; i++) {
        pthread_mutex_destroy(&set->shards[i].lock);
        free(set->shards[i].slots);
    }
}

/* Puts the pair where it is or belongs; true if it is new. The shard has a free slot. */
static bool put(struct pair_shard *shard, const struct row_pair *pair) {
    size_t at;
    HASH_PROBE(at, pair_hash(pair) / PAIR_SHARDS, shard->capacity,
               shard->slots[at].distance == EMPTY ||
                   (shard->slots[at].a == pair->a && shard->slots[at].b == pair->b));
    if (shard->slots[at].distance != EMPTY)
        return false;
    shard->slots[at] = *pair;
    return true;
}

static bool grow(struct pair_shard *shard) {
    struct pair_shard larger = {.capacity = shard->capacity ? 2 * shard->capacity : FIRST_CAPACITY};
    larger.slots = memory_array(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < larger.capacity; i++)
        larger.slots[i].distance = EMPTY;
    for (size_t i = 0; i < shard->capacity; i++)
        if (shard->slots[i].distance != EMPTY)
            put(&larger, &shard->slots[i]);
    free(shard->slots);
    shard->slots = larger.slots;
    shard->capacity = larger.capacity;
    return true;
}

/* Leaves in the shard what the sieve keeps. Its lock is held. */
static cog_status sieve_shard(const struct match_sieve *sieve, struct pair_shard *shard,
                              cog_error *error) {
    size_t count = 0;
    struct match *items;
    TAKE(items, shard->count, "candidates", error);
    for (size_t i = 0; i < shard->capacity; i++) {
        struct row_pair *slot = &shard->slots[i];
        if (slot->distance != EMPTY)
            items[count++] = (struct match){slot->a, slot->b, slot->distance, 0};
        slot->distance = EMPTY;
    }
    cog_status status = sieve->keep(sieve->context, items, &count, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        put(shard, &(struct row_pair){items[i].a, items[i].b, items[i].distance});
    shard->count = shard->kept = count;
    free(items);
    return status;
}

static bool is_full(const struct pair_set *set, const struct pair_shard *shard) {
    size_t room = shard->kept > PAIR_SHARD_BATCH ? shard->kept : PAIR_SHARD_BATCH;
    return set->sieve && shard->count >= shard->kept + room;
}

static cog_status flush_shard(struct pair_set *set, struct pair_buffer *buffer, unsigned number,
                              cog_error *error) {
    struct pair_shard *shard = &set->shards[number];
    cog_status status = COG_OK;
    pthread_mutex_lock(&shard->lock);
    size_t count_before = shard->count;
    for (unsigned i = 0; i < buffer->counts[number]; i++) {
        if (4 * (shard->count + 1) > 3 * shard->capacity && !grow(shard)) {
            status = error_memory(error, 2 * shard->capacity * sizeof *shard->slots,
                                  "pairs; a smaller distance gives fewer");
            break;
        }
        shard->count += put(shard, &buffer->pairs[number][i]);
    }
    if (status == COG_OK && is_full(set, shard))
        status = sieve_shard(set->sieve, shard, error);
    size_t added = shard->count - count_before; /* modulo 2^64, where a sieve took some out */
    pthread_mutex_unlock(&shard->lock);
    buffer->counts[number] = 0;
    size_t count = __atomic_add_fetch(&set->count, added, __ATOMIC_RELAXED);
    if (status == COG_OK && set->limit && count > set->limit)
        status = error_about(error, COG_ERR_MEMORY, "memory_bytes",
                             "more than %zu pairs, which is what the memory budget has room for: "
                             "raise it, or ask for nearer pairs",
                             set->limit);
    return status;
}

cog_status pair_set_add(struct pair_set *set, struct pair_buffer *buffer, struct row_pair pair,
                        cog_error *error) {
    unsigned number = shard_of(pair_hash(&pair));
    buffer->pairs[number][buffer->counts[number]++] = pair;
    return buffer->counts[number] < PAIR_BUFFER ? COG_OK : flush_shard(set, buffer, number, error);
}

cog_status pair_set_flush(struct pair_set *set, struct pair_buffer *buffer, cog_error *error) {
    for (unsigned i = 0; i < PAIR_SHARDS; i++)
        TRY(flush_shard(set, buffer, i, error));
    return COG_OK;
}

cog_status pair_set_take(struct pair_set *set, struct match_list *matches, cog_error *error) {
    cog_status status = COG_OK;
    for (int s = 0; s < PAIR_SHARDS; s++) {
        struct pair_shard *shard = &set->shards[s];
        for (size_t i = 0; i < shard->capacity && status == COG_OK; i++) {
            const struct row_pair *pair = &shard->slots[i];
            if (pair->distance == EMPTY)
                continue;
            status =
                match_list_add(matches, (struct match){pair->a, pair->b, pair->distance, 0}, error);
        }
        free(shard->slots);
        shard->slots = NULL;
        shard->capacity = shard->count = shard->kept = 0;
    }
    THEN(status, match_list_sieve(matches, error));
    match_list_sort(matches);
    return status;
}

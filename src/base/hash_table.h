/* Open addressing: the library's only probing loop (HASH_PROBE), and a set of hashes.
 *
 * Each table defines its own slots, from 4 bytes (a number whose hash is stored elsewhere) to 24 (a
 * pair of rows with its distance): one common slot size would double the memory of the small tables
 * and add a cache miss to the large ones. The number of slots is a power of two, and at least one
 * slot is free. */
#pragma once

#include "base/error.h"

/* Sets `at` (a size_t) to the first slot, starting at the home slot of `hash`, for which the
 * expression `stops` holds; usually that the slot is free or has the wanted key. */
#define HASH_PROBE(at, hash, slot_count, stops)                                                    \
    do {                                                                                           \
        const size_t hash_mask = (slot_count)-1;                                                   \
        for ((at) = (size_t)(hash)&hash_mask; !(stops);)                                           \
            (at) = ((at) + 1) & hash_mask;                                                         \
    } while (0)

/* The number of slots for `count` keys: a power of two, at least `least`, with at most half of the
 * slots used. */
size_t hash_slots(size_t count, size_t least);

/* A set of hashes whose maximum size is known. Zero-initialise; hash_set_free releases. */
struct hash_set {
    uint64_t *slots; /* 0: free; the hash 0 is kept as 1 */
    size_t slot_count;
};
cog_status hash_set_init(struct hash_set *set, size_t most, const char *what, cog_error *error);
/* True if the hash is new. */
bool hash_set_add(struct hash_set *set, uint64_t hash);
bool hash_set_has(const struct hash_set *set, uint64_t hash);
void hash_set_free(struct hash_set *set);

/* A set of pairs of rows with their distance, filled by several threads at once.
 *
 * A join that finds the same pair in many tables keeps it once. Memory grows with the number of
 * distinct pairs, or, with a sieve, with the number of pairs that stay. */
#pragma once

#include <pthread.h>

#include "search/hits/hit_lists.h"

/* With a sieve, a shard drops the rejected pairs whenever PAIR_SHARD_BATCH new pairs have arrived,
 * or as many as it has kept if that is more. */
enum { PAIR_SHARDS = 64, PAIR_BUFFER = 32, PAIR_SHARD_BATCH = 8192 };

struct row_pair {
    uint32_t a, b, distance;
};

struct pair_set {
    const struct match_sieve *sieve; /* NULL: all pairs stay */
    size_t limit; /* more pairs (without a sieve) are COG_ERR_MEMORY; 0: no limit */
    size_t count; /* atomic */
    struct pair_shard {
        pthread_mutex_t lock;
        struct row_pair *slots;       /* open addressing; a power of two of them */
        size_t capacity, count, kept; /* kept: left by the last sieving */
    } shards[PAIR_SHARDS];
};

/* Buffers the pairs of one thread before they enter the set. Zero-initialise; flush at the end. */
struct pair_buffer {
    struct row_pair pairs[PAIR_SHARDS][PAIR_BUFFER];
    unsigned counts[PAIR_SHARDS];
};

void pair_set_init(struct pair_set *set, size_t limit, const struct match_sieve *sieve);
void pair_set_free(struct pair_set *set);
cog_status pair_set_add(struct pair_set *set, struct pair_buffer *buffer, struct row_pair pair,
                        cog_error *error);
cog_status pair_set_flush(struct pair_set *set, struct pair_buffer *buffer, cog_error *error);
/* All pairs, sorted by rows; the set is left empty. */
cog_status pair_set_take(struct pair_set *set, struct match_list *matches, cog_error *error);

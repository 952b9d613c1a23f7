/* A table of distinct short keys in buckets, addressed by the first header_bits bits of a key.
 *
 * In: sorted distinct keys. A search passes bucket numbers and gets the keys in those buckets that
 * are within a radius of its own key. A bucket is one cache line for 64-bit keys and two for
 * 128-bit keys, up to three quarters larger if that fits the number of keys better, so a look-up
 * costs one memory access. A bucket omits the header bits of its keys and packs the rest; the table
 * is no larger than the plain keys:
 *
 *     filters   32 bits per slot, the last bits of its key
 *     rests     the bits between header and filter, packed
 *     trailer   2 bytes: flags (BUCKET_SPILLED, BUCKET_RECORDED); number of own keys and of guests
 *
 * Keys that find no slot become guests in the last slots of the neighbour, the bucket whose number
 * differs in the last bit. If both are full, keys go to a record in the overflow: bucket and count
 * in one word, then whole keys. The records of 64 buckets are adjacent. A skewed collection costs
 * longer scans, never more memory than its keys.
 *
 * The table owns its arrays unless they are mapped from a file (bucket_index.h). */
#pragma once

#include "search/keys/key_set.h"

enum {
    BUCKET_TRAILER_BYTES = 2,
    BUCKET_SPILLED = 1,  /* flag: some keys are guests of the neighbour */
    BUCKET_RECORDED = 2, /* flag: some keys have a record in the overflow */
    BUCKET_GROUP_BITS = 6,
    BUCKET_HEADER_BITS_MAX = 31
};

/* The result of scanning one bucket: slots whose filter is within the radius, and the flags. */
struct bucket_hit {
    uint32_t probe; /* its position among the probes */
    uint32_t bucket;
    uint16_t slots; /* bit i: slot i */
    uint16_t flags; /* BUCKET_SPILLED, BUCKET_RECORDED */
};

struct bucket_table;

/* The buckets to scan, each for a key whose last 32 bits are the filter. filter_step is 0 if all
 * probes share one filter, 1 if each has its own. */
struct bucket_probes {
    const uint32_t *buckets;
    size_t count;
    const uint32_t *filters;
    size_t filter_step;
};

/* Buckets that will be read later. A scan prefetches one of them for each bucket it reads, so that
 * requests are issued at the rate at which memory answers. */
struct bucket_ahead {
    const uint32_t *buckets;
    size_t count;
};

/* Scans the probes; `hits` has room for one hit per probe. Returns the number of hits. */
typedef size_t bucket_scan(const struct bucket_table *table, const struct bucket_probes *probes,
                           unsigned radius_bits, struct bucket_ahead ahead,
                           struct bucket_hit *hits);

struct bucket_table {
    uint8_t *buckets;
    size_t bucket_bytes;
    unsigned key_bits, words;
    unsigned header_bits;
    unsigned rest_bits; /* between header and filter */
    unsigned slots;     /* per bucket */
    size_t count;       /* keys */
    uint64_t *overflow;
    size_t overflow_words;
    uint32_t *group_starts; /* the first record of each 64 buckets, and the end */
    uint32_t *ranks;        /* the number of keys before each bucket; NULL without positions */
    bucket_scan *scan;
};

/* Limits on the size of a table. */
struct bucket_limits {
    unsigned header_bits_min, header_bits_max;
    unsigned bytes_percent; /* of the plain keys; small tables and header_bits_min may exceed it */
};
#define BUCKET_LIMITS_DEFAULT ((struct bucket_limits){4, BUCKET_HEADER_BITS_MAX, 115})

/* The longest header for this number of keys: one bucket per key. */
unsigned bucket_header_most(size_t keys);

/* Builds from distinct sorted keys, with the longest header within the limits. With ranks,
 * bucket_find returns positions. Free with bucket_table_free. */
cog_status bucket_table_build(struct bucket_table *table, const struct key_array *keys,
                              struct bucket_limits limits, bool with_ranks, cog_error *error);
void bucket_table_free(struct bucket_table *table);
/* Sets the shape of a table whose arrays are mapped from a file; false if it is impossible. */
bool bucket_table_restore(struct bucket_table *table, unsigned key_bits, uint64_t header_bits,
                          uint64_t bucket_bytes, uint64_t count, uint64_t overflow_words);
/* The length of group_starts. */
size_t bucket_group_count(const struct bucket_table *table);
/* Memory of the table without the ranks, which count as part of the row numbers. */
size_t bucket_table_bytes(const struct bucket_table *table);

static inline uint8_t *bucket_at(const struct bucket_table *table, size_t bucket) {
    return table->buckets + bucket * table->bucket_bytes;
}

static inline void bucket_prefetch(const struct bucket_table *table, size_t bucket) {
    const uint8_t *first = bucket_at(table, bucket);
    __builtin_prefetch(first, 0, 2); /* the second-level cache takes more requests at once */
    if (table->bucket_bytes > 64)
        __builtin_prefetch(first + table->bucket_bytes - 1, 0, 2);
}

/* Prefetches the rest of `ahead` after a scan of `scanned` buckets. */
static inline void bucket_prefetch_rest(const struct bucket_table *table, struct bucket_ahead ahead,
                                        size_t scanned) {
    for (size_t i = scanned; i < ahead.count; i++)
        bucket_prefetch(table, ahead.buckets[i]);
}

static inline uint32_t bucket_filter(const struct bucket_table *table, short_key key) {
    return (uint32_t)(key >> (128 - table->key_bits));
}

/* Scans probes whose buckets are not in the cache, prefetching them on the way. */
static inline size_t bucket_scan_fetching(const struct bucket_table *table,
                                          const struct bucket_probes *probes, unsigned radius_bits,
                                          struct bucket_hit *hits) {
    enum { DISTANCE = 24 };
    size_t first = probes->count < DISTANCE ? probes->count : DISTANCE;
    bucket_prefetch_rest(table, (struct bucket_ahead){probes->buckets, first}, 0);
    struct bucket_ahead rest = {probes->buckets + first, probes->count - first};
    return table->scan(table, probes, radius_bits, rest, hits);
}

/* Prefetches what bucket_hit_matches reads in addition to the bucket: first the neighbour and the
 * place of the record, then, a little later, the record. */
static inline void bucket_hit_prefetch(const struct bucket_table *table,
                                       const struct bucket_hit *hit) {
    if (hit->flags & BUCKET_SPILLED)
        bucket_prefetch(table, hit->bucket ^ 1);
    if (hit->flags & BUCKET_RECORDED)
        __builtin_prefetch(table->group_starts + (hit->bucket >> BUCKET_GROUP_BITS));
}

static inline void bucket_record_prefetch(const struct bucket_table *table,
                                          const struct bucket_hit *hit) {
    if (hit->flags & BUCKET_RECORDED)
        __builtin_prefetch(table->overflow + table->group_starts[hit->bucket >> BUCKET_GROUP_BITS]);
}

/* A key within the radius. `order` numbers the keys of its bucket: slots, then guests, then the
 * record. */
struct bucket_match {
    short_key key;
    uint32_t bucket, order;
    unsigned distance;
};

enum { BUCKET_MATCHES_MAX = 16 /* per call of bucket_hit_matches */ };

/* Writes the keys of a hit that are within the radius, from order `from` on, at most
 * BUCKET_MATCHES_MAX. Returns their number and sets *next to the order at which to continue, 0 at
 * the end. */
size_t bucket_hit_matches(const struct bucket_table *table, const struct bucket_hit *hit,
                          short_key query, unsigned radius_bits, uint32_t from,
                          struct bucket_match *matches, uint32_t *next);

/* The position of a match among all keys in order; needs ranks. */
static inline size_t bucket_rank(const struct bucket_table *table,
                                 const struct bucket_match *match) {
    return (size_t)table->ranks[match->bucket] + match->order;
}

/* The position of a key (0 in a table without ranks), or SIZE_MAX if the table does not have it. */
size_t bucket_find(const struct bucket_table *table, short_key key);

/* All levels return the same hits. */
bucket_scan bucket_scan_portable;
bucket_scan bucket_scan_popcnt;
bucket_scan bucket_scan_avx2;
bucket_scan bucket_scan_avx512;

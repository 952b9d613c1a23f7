/* Distinct short keys in buckets of one cache line (64-bit keys) or two (128-bit keys), a quarter
 * to three quarters more where the number of keys fits that better, addressed by the first
 * header_bits bits of the key: a look-up costs one access to memory. A bucket leaves out the header
 * bits of its keys and packs the rest, so the table is no larger than the plain keys are:
 *
 *     filters   32 bits for each slot, the last bits of its key
 *     rests     the bits between header and filter, packed
 *     trailer   2 bytes: whether keys went to the neighbour and to an overflow record; numbers of
 *               own keys and of guests
 *
 * Keys that find no slot become guests in the last slots of the neighbour, the bucket whose number
 * differs in the last bit. Where both are full they go to a record in the overflow: the bucket and
 * the count in one word, then whole keys; the records of 64 buckets follow each other. So a skewed
 * collection costs longer scans, never more than its keys. */
#pragma once

#include "search/keys/key_sort.h"
#include "search/keys/short_key.h"

enum {
    LINE_TRAILER_BYTES = 2,
    LINE_SPILLED = 1,  /* in the trailer: some keys are the neighbour's guests */
    LINE_RECORDED = 2, /* some keys have a record in the overflow */
    LINE_GROUP_BITS = 6,
    LINE_HEADER_BITS_MAX = 31
};

/* What a scan of one bucket leaves to be looked at: slots whose filter is within the radius, and
 * where further keys lie. */
struct line_hit {
    uint32_t probe; /* its number */
    uint32_t bucket;
    uint16_t slots; /* bit i: slot i */
    uint16_t flags; /* LINE_SPILLED, LINE_RECORDED */
};

struct line_table;

/* The buckets that a scan looks at, each for a key whose last 32 bits are its filter: one filter
 * for all (filter_step 0) or one for each (1). */
struct line_probes {
    const uint32_t *buckets;
    size_t count;
    const uint32_t *filters;
    size_t filter_step;
};

/* Buckets that will be read later: a scan fetches one of them for each bucket that it looks at, so
 * that requests to memory leave at the pace at which memory answers them. */
struct line_ahead {
    const uint32_t *buckets;
    size_t count;
};

/* hits needs room for as many as there are probes. Returns how many there are. */
typedef size_t line_scan(const struct line_table *table, const struct line_probes *probes,
                         unsigned radius_bits, struct line_ahead ahead, struct line_hit *hits);

struct line_table {
    uint8_t *buckets;
    size_t bucket_bytes;
    unsigned key_bits, words;
    unsigned header_bits;
    unsigned rest_bits; /* between header and filter */
    unsigned slots;     /* in a bucket */
    size_t count;       /* keys */
    uint64_t *overflow;
    size_t overflow_words;
    uint32_t *group_starts; /* the first record of each 64 buckets, and the end */
    uint32_t *ranks;        /* keys before each bucket; NULL where positions are not asked for */
    line_scan *scan;
};

/* What a table may look like. */
struct line_limits {
    unsigned header_bits_min, header_bits_max;
    unsigned bytes_percent; /* of the plain keys, small collections and header_bits_min apart */
};
#define LINE_LIMITS_DEFAULT ((struct line_limits){4, LINE_HEADER_BITS_MAX, 115})

/* The longest header for so many keys: as many buckets as there are keys. */
unsigned line_header_most(size_t keys);
/* The header that a table of so many keys has within the limits, one less where they are skewed. */
unsigned line_header_for(size_t keys, unsigned key_bits, struct line_limits limits);

/* From distinct keys in order, with the longest header within the limits. With ranks, keys have
 * positions. */
cog_status line_table_build(struct line_table *table, const struct key_array *keys,
                            struct line_limits limits, bool with_ranks, cog_error *error);
void line_table_free(struct line_table *table);
/* The shape of a table whose arrays lie elsewhere; false where it is impossible. */
bool line_table_restore(struct line_table *table, unsigned key_bits, uint64_t header_bits,
                        uint64_t bucket_bytes, uint64_t count, uint64_t overflow_words);
/* Of group_starts. */
size_t line_group_count(const struct line_table *table);
/* Without the ranks, which belong to the row numbers. */
size_t line_table_bytes(const struct line_table *table);
size_t line_rank_bytes(const struct line_table *table);

static inline uint8_t *line_bucket(const struct line_table *table, size_t bucket) {
    return table->buckets + bucket * table->bucket_bytes;
}

static inline void line_prefetch(const struct line_table *table, size_t bucket) {
    const uint8_t *line = line_bucket(table, bucket);
    __builtin_prefetch(line, 0, 2); /* the second level of cache takes more requests at once */
    if (table->bucket_bytes > 64)
        __builtin_prefetch(line + table->bucket_bytes - 1, 0, 2);
}

/* What is left of `ahead` after a scan of `scanned` buckets. */
static inline void line_prefetch_rest(const struct line_table *table, struct line_ahead ahead,
                                      size_t scanned) {
    for (size_t i = scanned; i < ahead.count; i++)
        line_prefetch(table, ahead.buckets[i]);
}

static inline unsigned line_slots_used(const struct line_table *table, const uint8_t *bucket) {
    return bucket[table->bucket_bytes - 1] & 15;
}

static inline unsigned line_guests(const struct line_table *table, const uint8_t *bucket) {
    return bucket[table->bucket_bytes - 1] >> 4;
}

static inline unsigned line_flags(const struct line_table *table, const uint8_t *bucket) {
    return bucket[table->bucket_bytes - LINE_TRAILER_BYTES];
}

static inline struct line_hit line_hit_of(const struct line_probes *probes, size_t probe,
                                          unsigned slots, unsigned flags) {
    return (struct line_hit){(uint32_t)probe, probes->buckets[probe], (uint16_t)slots,
                             (uint16_t)flags};
}

static inline uint32_t line_filter(const struct line_table *table, short_key key) {
    return (uint32_t)(key >> (128 - table->key_bits));
}

/* Scans probes whose buckets nobody has fetched, and fetches them on the way. */
static inline size_t line_scan_fetching(const struct line_table *table,
                                        const struct line_probes *probes, unsigned radius_bits,
                                        struct line_hit *hits) {
    enum { DISTANCE = 24 };
    size_t first = probes->count < DISTANCE ? probes->count : DISTANCE;
    line_prefetch_rest(table, (struct line_ahead){probes->buckets, first}, 0);
    struct line_ahead rest = {probes->buckets + first, probes->count - first};
    return table->scan(table, probes, radius_bits, rest, hits);
}

/* Fetches what line_hit_matches will read besides the bucket. */
static inline void line_hit_prefetch(const struct line_table *table, const struct line_hit *hit) {
    if (hit->flags & LINE_SPILLED)
        line_prefetch(table, hit->bucket ^ 1);
    if (hit->flags & LINE_RECORDED)
        __builtin_prefetch(table->group_starts + (hit->bucket >> LINE_GROUP_BITS));
}

/* The same a little later, for what the first fetch led to. */
static inline void line_record_prefetch(const struct line_table *table,
                                        const struct line_hit *hit) {
    if (hit->flags & LINE_RECORDED)
        __builtin_prefetch(table->overflow + table->group_starts[hit->bucket >> LINE_GROUP_BITS]);
}

/* A key that a hit led to. `order` counts from the bucket's first key, through slots, guests and
 * record. */
struct line_match {
    short_key key;
    uint32_t bucket, order;
    unsigned distance;
};

/* Writes the keys of a hit within the radius from number `from` on, at most `capacity`; returns how
 * many and sets *next to where to go on (0 when done). */
size_t line_hit_matches(const struct line_table *table, const struct line_hit *hit, short_key query,
                        unsigned radius_bits, uint32_t from, struct line_match *matches,
                        size_t capacity, uint32_t *next);

/* The position of a match among all keys in order. */
static inline size_t line_rank(const struct line_table *table, uint32_t bucket, uint32_t order) {
    return (size_t)table->ranks[bucket] + order;
}

/* The position of a key, or SIZE_MAX when it is not in the table. */
size_t line_find(const struct line_table *table, short_key key);
/* The same for a table without positions. */
bool line_has(const struct line_table *table, short_key key);

/* The scans: every level finds the same. */
line_scan line_scan_portable;
#if defined(__x86_64__)
line_scan line_scan_popcnt;
line_scan line_scan_avx2;
line_scan line_scan_avx512;
#endif

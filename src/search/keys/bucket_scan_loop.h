/* The scan of buckets (bucket_scan in bucket_table.h), compiled once per instruction set.
 *
 * The level passes `slots_near(bucket, filter, radius_bits)`: bit i of the result is set if the
 * filter of slot i differs from `filter` in at most radius_bits bits. Bits of unused slots may be
 * anything. Everything is inlined, so the pointer costs nothing. */
#pragma once

#include "search/keys/bucket_table.h"

typedef unsigned bucket_slots_near(const uint8_t *bucket, uint32_t filter, unsigned radius_bits);

/* One population count per slot: for levels without vector instructions. */
static inline unsigned bucket_slots_near_each(const uint8_t *bucket, uint32_t filter,
                                              unsigned radius_bits) {
    enum { SLOTS_COMPARED = 16 /* one cache line of filters */ };
    unsigned slots = 0;
    for (unsigned i = 0; i < SLOTS_COMPARED; i++) {
        uint32_t stored;
        memcpy(&stored, bucket + sizeof stored * i, sizeof stored);
        slots |= (unsigned)((unsigned)__builtin_popcount(stored ^ filter) <= radius_bits) << i;
    }
    return slots;
}

static inline __attribute__((always_inline)) size_t
bucket_scan_loop(const struct bucket_table *table, const struct bucket_probes *probes,
                 unsigned radius_bits, struct bucket_ahead ahead, struct bucket_hit *hits,
                 bucket_slots_near *slots_near) {
    size_t found = 0;
    for (size_t i = 0; i < probes->count; i++) {
        if (i < ahead.count)
            bucket_prefetch(table, ahead.buckets[i]);
        const uint8_t *bucket = bucket_at(table, probes->buckets[i]);
        uint32_t filter = probes->filters[i * probes->filter_step];
        unsigned used = (1u << (bucket[table->bucket_bytes - 1] & 15)) - 1;
        unsigned slots = slots_near(bucket, filter, radius_bits) & used;
        unsigned flags = bucket[table->bucket_bytes - BUCKET_TRAILER_BYTES];
        hits[found] =
            (struct bucket_hit){(uint32_t)i, probes->buckets[i], (uint16_t)slots, (uint16_t)flags};
        found += (slots | flags) != 0;
    }
    bucket_prefetch_rest(table, ahead, probes->count);
    return found;
}

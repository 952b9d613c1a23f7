/* The scan of line buckets with one population count a slot; compiled once with and once without
 * the instruction. */
#ifndef COGNATE_INDEX_LINE_SCAN_LOOP_H
#define COGNATE_INDEX_LINE_SCAN_LOOP_H

#include "index/line_table.h"

static inline unsigned line_slots_within(const uint8_t *bucket, unsigned used, uint32_t filter,
                                         unsigned radius_bits) {
    unsigned slots = 0;
    for (unsigned i = 0; i < used; i++) {
        uint32_t stored;
        memcpy(&stored, bucket + 4 * i, sizeof stored);
        slots |= (unsigned)((unsigned)__builtin_popcount(stored ^ filter) <= radius_bits) << i;
    }
    return slots;
}

static inline size_t line_scan_loop(const struct line_table *table,
                                    const struct line_probes *probes, unsigned radius_bits,
                                    struct line_ahead ahead, struct line_hit *hits) {
    size_t found = 0;
    for (size_t i = 0; i < probes->count; i++) {
        if (i < ahead.count)
            line_prefetch(table, ahead.buckets[i]);
        const uint8_t *bucket = line_bucket(table, probes->buckets[i]);
        uint32_t filter = probes->filters[i * probes->filter_step];
        unsigned used = line_slots_used(table, bucket);
        unsigned slots = line_slots_within(bucket, used, filter, radius_bits);
        unsigned flags = line_flags(table, bucket);
        hits[found] = line_hit_of(probes, i, slots, flags);
        found += (slots | flags) != 0;
    }
    line_prefetch_rest(table, ahead, probes->count);
    return found;
}

#endif

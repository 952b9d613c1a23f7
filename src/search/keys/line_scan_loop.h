/* The scan of line buckets, for every instruction set. A file that includes this says before it how
 * the slots of a bucket are compared: line_slots_near(bucket, filter, radius_bits) has bit i set
 * where slot i differs from the filter in at most radius_bits; what it says of unused slots does
 * not count. */
#pragma once

#include "search/keys/line_table.h"

static inline size_t line_scan_loop(const struct line_table *table,
                                    const struct line_probes *probes, unsigned radius_bits,
                                    struct line_ahead ahead, struct line_hit *hits) {
    size_t found = 0;
    for (size_t i = 0; i < probes->count; i++) {
        if (i < ahead.count)
            line_prefetch(table, ahead.buckets[i]);
        const uint8_t *bucket = line_bucket(table, probes->buckets[i]);
        uint32_t filter = probes->filters[i * probes->filter_step];
        unsigned slots = line_slots_near(bucket, filter, radius_bits) &
                         ((1u << line_slots_used(table, bucket)) - 1);
        unsigned flags = line_flags(table, bucket);
        hits[found] = line_hit_of(probes, i, slots, flags);
        found += (slots | flags) != 0;
    }
    line_prefetch_rest(table, ahead, probes->count);
    return found;
}

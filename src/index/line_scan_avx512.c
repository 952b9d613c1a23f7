#if defined(__x86_64__)
#include <immintrin.h>

#include "index/line_table.h"

size_t line_scan_avx512(const struct line_table *table, const struct line_probes *probes,
                        unsigned radius_bits, struct line_ahead ahead, struct line_hit *hits) {
    const __m512i radius = _mm512_set1_epi32((int)radius_bits);
    size_t found = 0;
    for (size_t i = 0; i < probes->count; i++) {
        if (i < ahead.count)
            line_prefetch(table, ahead.buckets[i]);
        const uint8_t *bucket = line_bucket(table, probes->buckets[i]);
        __m512i query = _mm512_set1_epi32((int)probes->filters[i * probes->filter_step]);
        __m512i counts = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(bucket), query));
        unsigned slots = _mm512_cmple_epu32_mask(counts, radius);
        slots &= (1u << line_slots_used(table, bucket)) - 1;
        unsigned flags = line_flags(table, bucket);
        hits[found] = line_hit_of(probes, i, slots, flags);
        found += (slots | flags) != 0;
    }
    line_prefetch_rest(table, ahead, probes->count);
    return found;
}
#endif

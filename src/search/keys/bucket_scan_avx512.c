#if defined(__x86_64__)
#include <immintrin.h>

#include "search/keys/bucket_scan_loop.h"

static inline unsigned slots_near(const uint8_t *bucket, uint32_t filter, unsigned radius_bits) {
    __m512i query = _mm512_set1_epi32((int)filter);
    __m512i counts = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(bucket), query));
    return _mm512_cmple_epu32_mask(counts, _mm512_set1_epi32((int)radius_bits));
}

size_t bucket_scan_avx512(const struct bucket_table *table, const struct bucket_probes *probes,
                          unsigned radius_bits, struct bucket_ahead ahead,
                          struct bucket_hit *hits) {
    return bucket_scan_loop(table, probes, radius_bits, ahead, hits, slots_near);
}
#endif

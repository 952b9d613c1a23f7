#if defined(__x86_64__)
#include <immintrin.h>

#include "search/keys/bucket_scan_loop.h"

/* Population counts of eight 32-bit lanes: a shuffle counts the bits of nibbles, two multiply-adds
 * sum the bytes. */
static inline __m256i popcount_lanes(__m256i x) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i bytes =
        _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
                        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
    return _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)),
                             _mm256_set1_epi16(1));
}

static inline unsigned lanes_within(const uint8_t *filters, __m256i query, __m256i above) {
    __m256i stored = _mm256_loadu_si256((const __m256i *)filters);
    __m256i counts = popcount_lanes(_mm256_xor_si256(stored, query));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(above, counts)));
}

static inline unsigned slots_near(const uint8_t *bucket, uint32_t filter, unsigned radius_bits) {
    const __m256i query = _mm256_set1_epi32((int)filter);
    const __m256i above = _mm256_set1_epi32((int)radius_bits + 1);
    return lanes_within(bucket, query, above) | lanes_within(bucket + 32, query, above) << 8;
}

size_t bucket_scan_avx2(const struct bucket_table *table, const struct bucket_probes *probes,
                        unsigned radius_bits, struct bucket_ahead ahead, struct bucket_hit *hits) {
    return bucket_scan_loop(table, probes, radius_bits, ahead, hits, slots_near);
}
#endif

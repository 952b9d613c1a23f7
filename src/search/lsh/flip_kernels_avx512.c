#include "search/lsh/flip_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { LANES = 16 };

/* The key with each of the flips whose bit of `taken` is set. */
static inline void add_keys(uint64_t *keys, __m512i flips, __mmask16 taken, uint64_t key,
                            unsigned shift) {
    const __m512i all = _mm512_set1_epi64((long long)key);
    __m512i low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(flips));
    __m512i high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(flips, 1));
    low = _mm512_xor_si512(all, _mm512_sll_epi64(low, _mm_cvtsi32_si128((int)shift)));
    high = _mm512_xor_si512(all, _mm512_sll_epi64(high, _mm_cvtsi32_si128((int)shift)));
    _mm512_storeu_si512(keys, _mm512_maskz_compress_epi64((__mmask8)taken, low));
    _mm512_storeu_si512(keys + _mm_popcnt_u32(taken & 0xff),
                        _mm512_maskz_compress_epi64((__mmask8)(taken >> 8), high));
}

/* Writes whole vectors; the next keys overwrite what follows the last one. Most lists of sets are
 * shorter than a vector, so no branch depends on the number of sets taken. */
static void collect(struct flip_keys *keys, const struct flip_sets *first,
                    const struct flip_sets *second, struct lsh_key own, unsigned half_bits,
                    int32_t bound) {
    const unsigned shift = 64 - 2 * half_bits;
    const __m512i masks = _mm512_set1_epi32((1 << FLIP_COUNT_SHIFT) - 1);
    size_t count = keys->count;
    __mmask16 lanes = 0xfffe; /* the own key is none of these */
    for (size_t x = 0; first->costs[x] + second->costs[0] <= bound && count <= keys->most;
         x++, lanes = 0xffff) {
        const __m512i cost = _mm512_set1_epi32(first->costs[x]);
        const __m512i below = _mm512_set1_epi32((int)flips_below(first->flips[x]));
        const uint64_t key = own.key ^ flip_mask(first->flips[x]) << (half_bits + shift);
        for (size_t y = 0; y < second->count; y += LANES, lanes = 0xffff) {
            __m512i costs = _mm512_add_epi32(cost, _mm512_loadu_si512(second->costs + y));
            __m512i flips = _mm512_loadu_si512(second->flips + y);
            __mmask16 taken = _mm512_mask_cmple_epi32_mask(lanes, costs, _mm512_set1_epi32(bound));
            if (!taken)
                break;
            taken = _mm512_mask_cmplt_epu32_mask(taken, flips, below);
            _mm512_storeu_si512(keys->costs + count, _mm512_maskz_compress_epi32(taken, costs));
            _mm512_storeu_si512(keys->tables + count, _mm512_set1_epi32((int)own.table));
            add_keys(keys->keys + count, _mm512_and_si512(flips, masks), taken, key, shift);
            count += (size_t)_mm_popcnt_u32(taken);
        }
    }
    keys->count = count;
}

const struct flip_kernels flip_kernels_avx512 = FLIP_KERNELS(collect);
#endif

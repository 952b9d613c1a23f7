#if defined(__x86_64__)
#include <immintrin.h>

#include "search/probes/header_probes.h"

enum {
    LANES = 16,
    POSITION_BITS = 5, /* of a bit's place in the header, next to its penalty in one sort key */
    BOUND_MAX = (1 << (32 - POSITION_BITS)) - 2
};

/* One step of a bitonic sort: compares lanes with their partners; the lanes in `greater` keep the
 * maximum. */
static inline __m512i exchange(__m512i keys, __m512i partners, __mmask16 greater) {
    return _mm512_mask_max_epu32(_mm512_min_epu32(keys, partners), greater, keys, partners);
}

#define SWAP_1(keys) _mm512_shuffle_epi32(keys, _MM_PERM_CDAB)
#define SWAP_2(keys) _mm512_shuffle_epi32(keys, _MM_PERM_BADC)
#define SWAP_4(keys) _mm512_shuffle_i64x2(keys, keys, 0xb1)
#define SWAP_8(keys) _mm512_shuffle_i64x2(keys, keys, 0x4e)

static inline __m512i sorted(__m512i keys) {
    keys = exchange(keys, SWAP_1(keys), 0x6666);
    keys = exchange(keys, SWAP_2(keys), 0x3c3c);
    keys = exchange(keys, SWAP_1(keys), 0x5a5a);
    keys = exchange(keys, SWAP_4(keys), 0x0ff0);
    keys = exchange(keys, SWAP_2(keys), 0x33cc);
    keys = exchange(keys, SWAP_1(keys), 0x55aa);
    keys = exchange(keys, SWAP_8(keys), 0xff00);
    keys = exchange(keys, SWAP_4(keys), 0xf0f0);
    keys = exchange(keys, SWAP_2(keys), 0xcccc);
    return exchange(keys, SWAP_1(keys), 0xaaaa);
}

/* The bits within the bound, by penalty; penalties after them are above every bound. */
struct volatile_bits {
    uint32_t penalties[2 * LANES], masks[2 * LANES];
};

struct filling {
    const struct volatile_bits *bits;
    uint32_t *buckets;
    size_t count, capacity;
};

static void extend(struct filling *filling, unsigned first, unsigned flips_left, uint32_t from,
                   uint32_t left, uint32_t bucket) {
    const struct volatile_bits *bits = filling->bits;
    __m512i penalties = _mm512_loadu_si512(bits->penalties + first);
    __mmask16 within = _mm512_cmple_epu32_mask(penalties, _mm512_set1_epi32((int)left));
    __mmask16 below = _mm512_cmplt_epu32_mask(penalties, _mm512_set1_epi32((int)from));
    unsigned skipped = (unsigned)__builtin_popcount(below),
             end = (unsigned)__builtin_popcount(within);
    if (end > skipped) {
        __m512i masks = _mm512_loadu_si512(bits->masks + first + skipped);
        _mm512_storeu_si512(filling->buckets + filling->count,
                            _mm512_xor_si512(masks, _mm512_set1_epi32((int)bucket)));
        filling->count += end - skipped;
    }
    for (unsigned i = first; flips_left > 1 && i + 1 < first + end; i++) {
        uint32_t penalty = bits->penalties[i];
        if (bits->penalties[i + 1] > left - penalty || filling->count >= filling->capacity)
            return;
        extend(filling, i + 1, flips_left - 1, from > penalty ? from - penalty : 0, left - penalty,
               bucket ^ bits->masks[i]);
    }
}

/* Returns which of 16 margins are within the bound, and sets their cells. */
static inline __mmask16 select_cells(const struct header_probes *probes, const float *margins,
                                     unsigned count, __m512i *cells) {
    __mmask16 present = (__mmask16)((1u << count) - 1);
    __m512 sizes = _mm512_abs_ps(_mm512_maskz_loadu_ps(present, margins));
    __m512 scaled = _mm512_mul_ps(sizes, _mm512_set1_ps(probes->volatility->scale));
    *cells = _mm512_cvttps_epi32(scaled);
    return _mm512_mask_cmp_ps_mask(present, scaled, _mm512_set1_ps((float)probes->cells),
                                   _CMP_LT_OQ);
}

size_t header_probes_avx512(const struct header_probes *probes, const float *margins,
                            uint32_t header, uint32_t *buckets, size_t capacity) {
    unsigned low = probes->header_bits < LANES ? probes->header_bits : LANES;
    __m512i cells[2];
    const __m512i positions =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __mmask16 first = select_cells(probes, margins, low, &cells[0]);
    __mmask16 second = select_cells(probes, margins + low, probes->header_bits - low, &cells[1]);
    unsigned firsts = (unsigned)__builtin_popcount(first);
    unsigned count = firsts + (unsigned)__builtin_popcount(second);
    if (count > LANES || probes->cells == VOLATILITY_CELLS || probes->bound > BOUND_MAX)
        return header_probes_portable(probes, margins, header, buckets, capacity);
    __mmask16 behind = (__mmask16)(0xffffu << firsts), used = (__mmask16)((1u << count) - 1);
    __m512i cell = _mm512_maskz_compress_epi32(first, cells[0]);
    __m512i position = _mm512_maskz_compress_epi32(first, positions);
    cell = _mm512_mask_expand_epi32(cell, behind, _mm512_maskz_compress_epi32(second, cells[1]));
    position = _mm512_mask_expand_epi32(
        position, behind,
        _mm512_maskz_compress_epi32(second, _mm512_add_epi32(positions, _mm512_set1_epi32(LANES))));
    __m512i penalty = _mm512_mask_i32gather_epi32(_mm512_set1_epi32(-1), used, cell,
                                                  probes->volatility->penalties, 4);
    __m512i keys = _mm512_or_si512(_mm512_slli_epi32(penalty, POSITION_BITS), position);
    keys = sorted(_mm512_mask_mov_epi32(_mm512_set1_epi32(-1), used, keys));
    struct volatile_bits bits;
    __m512i place = _mm512_and_si512(keys, _mm512_set1_epi32((1 << POSITION_BITS) - 1));
    __m512i shifts = _mm512_sub_epi32(_mm512_set1_epi32((int)probes->header_bits - 1), place);
    _mm512_storeu_si512(bits.penalties, _mm512_srli_epi32(keys, POSITION_BITS));
    _mm512_storeu_si512(bits.penalties + LANES, _mm512_set1_epi32(-1));
    _mm512_storeu_si512(bits.masks, _mm512_sllv_epi32(_mm512_set1_epi32(1), shifts));
    _mm512_storeu_si512(bits.masks + LANES, _mm512_setzero_si512());
    struct filling filling = {&bits, buckets, 0, capacity};
    if (probes->from == 0 && capacity > 0)
        buckets[filling.count++] = header;
    if (probes->flips_max > 0)
        extend(&filling, 0, probes->flips_max, probes->from, probes->bound, header);
    return filling.count < capacity ? filling.count : capacity;
}
#endif

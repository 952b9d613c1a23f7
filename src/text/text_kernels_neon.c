#if defined(__aarch64__)

#include "text/text_kernels.h"

#include <arm_neon.h>

#include "text/token_mask_loop.h"

static inline uint8x16_t bytes_between(uint8x16_t x, uint8_t first, uint8_t last) {
    return vcleq_u8(vsubq_u8(x, vdupq_n_u8(first)), vdupq_n_u8((uint8_t)(last - first)));
}

static inline uint8x16_t bytes_equal(uint8x16_t x, uint8_t byte) {
    return vceqq_u8(x, vdupq_n_u8(byte));
}

static size_t lower_ascii(const char *in, size_t size, char *out) {
    size_t i = 0;
    for (; i + 16 <= size; i += 16) {
        uint8x16_t x = vld1q_u8((const uint8_t *)in + i);
        if (vmaxvq_u8(x) >= 0x80)
            break;
        uint8x16_t step = vandq_u8(bytes_between(x, 'A', 'Z'), vdupq_n_u8(32));
        vst1q_u8((uint8_t *)out + i, vaddq_u8(x, step));
    }
    size_t rest = text_kernels_portable.lower_ascii(in + i, size - i, out + i);
    return i + rest;
}

/* One bit per byte of four vectors of all-ones or zero bytes. */
static inline uint64_t mask_of(const uint8x16_t set[4]) {
    static const uint8_t bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vld1q_u8(bit);
    uint8x16_t low = vpaddq_u8(vandq_u8(set[0], bits), vandq_u8(set[1], bits));
    uint8x16_t high = vpaddq_u8(vandq_u8(set[2], bits), vandq_u8(set[3], bits));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline void classify(const char *block, struct block_classes *classes) {
    uint8x16_t letter[4], number[4], underscore[4], mid[4], mid_number[4];
    for (int i = 0; i < 4; i++) {
        uint8x16_t x = vld1q_u8((const uint8_t *)block + 16 * i);
        letter[i] = vorrq_u8(bytes_between(x, 'a', 'z'), vcgeq_u8(x, vdupq_n_u8(0x80)));
        number[i] = bytes_between(x, '0', '9');
        underscore[i] = bytes_equal(x, '_');
        mid[i] = vorrq_u8(bytes_equal(x, '\''), bytes_equal(x, '.'));
        mid_number[i] = vorrq_u8(bytes_equal(x, ','), bytes_equal(x, ';'));
    }
    classes->letter = mask_of(letter);
    classes->number = mask_of(number);
    classes->underscore = mask_of(underscore);
    classes->mid_letter = mask_of(mid);
    classes->mid_number = classes->mid_letter | mask_of(mid_number);
}

static void token_mask(const char *folded, size_t blocks, bool inner, uint64_t *tokens) {
    token_mask_loop(classify, folded, blocks, inner, tokens);
}

const struct text_kernels text_kernels_neon = {lower_ascii, token_mask, token_spans_portable,
                                               hash_tokens_portable, hash_ngrams_portable};

#endif

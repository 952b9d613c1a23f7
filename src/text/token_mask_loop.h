/* The part of token_mask that all instruction levels share: derives token bits from the character
 * classes of a block and the edges of its neighbours. The level passes its classifier. */
#pragma once

#include "text/text_kernels.h"

/* One bit per byte. mid_letter and mid_number: punctuation allowed between two letters or numbers.
 */
struct block_classes {
    uint64_t letter, number, underscore, mid_letter, mid_number;
};
typedef void block_classify(const char *block, struct block_classes *classes);

static inline __attribute__((always_inline)) void token_mask_loop(block_classify *classify,
                                                                  const char *folded, size_t blocks,
                                                                  bool inner, uint64_t *tokens) {
    struct block_classes next;
    uint64_t letter_carry = 0, number_carry = 0, plain_carry = 0;
    if (blocks)
        classify(folded, &next);
    for (size_t b = 0; b < blocks; b++) {
        struct block_classes now = next;
        classify(folded + (b + 1) * TEXT_BLOCK_BYTES, &next);
        uint64_t plain = now.letter | now.number | now.underscore;
        uint64_t next_plain = next.letter | next.number | next.underscore;
        tokens[b] = plain;
        if (inner) {
            uint64_t after_letter = now.letter << 1 | letter_carry;
            uint64_t after_number = now.number << 1 | number_carry;
            uint64_t before_letter = now.letter >> 1 | next.letter << 63;
            uint64_t before_number = now.number >> 1 | next.number << 63;
            uint64_t joined = (now.mid_letter & after_letter & before_letter) |
                              (now.mid_number & after_number & before_number);
            uint64_t lone =
                now.underscore & ~(plain << 1 | plain_carry) & ~(plain >> 1 | next_plain << 63);
            tokens[b] = (plain | joined) & ~lone;
        }
        letter_carry = now.letter >> 63;
        number_carry = now.number >> 63;
        plain_carry = plain >> 63;
    }
}

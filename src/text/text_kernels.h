/* The two byte loops under every tokeniser, one set an instruction level: lower-casing of ASCII,
 * and the bit mask of the bytes that belong to tokens. All levels give the same bytes and bits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

enum { TEXT_BLOCK_BYTES = 64 };

struct text_kernels {
    /* Copies the leading ASCII bytes of in, lower-cased, and returns how many there are. May write
     * up to TEXT_BLOCK_BYTES more than that to out. */
    size_t (*lower_ascii)(const char *in, size_t size, char *out);
    /* Bit i of tokens[b] says whether byte 64 * b + i of folded belongs to a token: letters (a-z
     * and all bytes above 127), digits, underscore; with `inner` also the ASCII punctuation that
     * Unicode's word rules (UAX 29, WB6, 7, 11, 12) keep between two letters (' .) or two digits ('
     * . , ;). folded must be zero from its end to the end of block `blocks`, which is looked into.
     */
    void (*token_mask)(const char *folded, size_t blocks, bool inner, uint64_t *tokens);
};

const struct text_kernels *text_kernels_at(enum cpu_level level); /* NULL: not on this machine */
const struct text_kernels *text_kernels_best(void);

extern const struct text_kernels text_kernels_portable;
extern const struct text_kernels text_kernels_avx2, text_kernels_avx512;
extern const struct text_kernels text_kernels_neon;

/* The inner loops of every tokeniser, one set per instruction level: lower-casing ASCII, the bit
 * mask of the bytes that belong to tokens, token positions in the mask, hashes of tokens and
 * n-grams. All levels give the same results. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

enum { TEXT_BLOCK_BYTES = 64 };

/* The position of a token in a batch. */
struct token_span {
    uint32_t begin, end;
};
/* Readable bytes after the last token of a batch. */
enum { TOKEN_SLACK_BYTES = 32 };

struct text_kernels {
    /* Copies the leading ASCII bytes of `in`, lower-cased, and returns their number. May write up
     * to TEXT_BLOCK_BYTES more bytes to `out`. */
    size_t (*lower_ascii)(const char *in, size_t size, char *out);
    /* Bit i of tokens[b] is set if byte 64 * b + i of `folded` belongs to a token: letters (a-z and
     * all bytes above 127), digits, underscore; with `inner` also the ASCII punctuation that
     * Unicode's word rules (UAX 29, WB6, 7, 11, 12) keep between two letters (' .) or two digits ('
     * . , ;). `folded` must be zero from its end to the end of block `blocks`, which is read too.
     */
    void (*token_mask)(const char *folded, size_t blocks, bool inner, uint64_t *tokens);
    /* The runs of ones in such a mask, which must end with a zero; returns their number. `spans`
     * has room for 32 per block, plus 16. */
    size_t (*token_spans)(const uint64_t *tokens, size_t blocks, struct token_span *spans);
    /* hashes[i] = hash_bytes of token i, which is not empty. */
    void (*hash_tokens)(const char *bytes, const struct token_span *spans, size_t count,
                        uint64_t *hashes);
    /* hashes[i] = hash_pair over hashes[i .. i + n), first to last, for i below count. In place:
     * reads count + n - 1 hashes. */
    void (*hash_ngrams)(uint64_t *hashes, size_t count, unsigned n);
};

const struct text_kernels *text_kernels_at(enum cpu_level level); /* NULL: not on this machine */
const struct text_kernels *text_kernels_best(void);

/* Portable implementations that levels without their own code share. */
size_t token_spans_portable(const uint64_t *tokens, size_t blocks, struct token_span *spans);
void hash_tokens_portable(const char *bytes, const struct token_span *spans, size_t count,
                          uint64_t *hashes);
void hash_ngrams_portable(uint64_t *hashes, size_t count, unsigned n);
extern const struct text_kernels text_kernels_portable;
extern const struct text_kernels text_kernels_avx2, text_kernels_avx512;
extern const struct text_kernels text_kernels_neon;

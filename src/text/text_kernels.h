/* The loops under every tokeniser, one set per instruction level: lower-casing of ASCII, the bit
 * mask of the bytes that belong to tokens, the places of tokens in it, the hashes of tokens and of
 * n-grams. All levels give the same results. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

enum { TEXT_BLOCK_BYTES = 64 };

/* Where a token is in a batch. */
struct token_span {
    uint32_t begin, end;
};
/* Readable bytes after the last token of a batch. */
enum { TOKEN_SLACK_BYTES = 32 };

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
    /* The runs of ones in such a mask, which ends with a zero; returns how many. spans has room for
     * 32 per block, and for 16 more. */
    size_t (*token_spans)(const uint64_t *tokens, size_t blocks, struct token_span *spans);
    /* hashes[i] = hash_bytes of token i, which is not empty. */
    void (*hash_tokens)(const char *bytes, const struct token_span *spans, size_t count,
                        uint64_t *hashes);
    /* hashes[i] = hash_pair over hashes[i .. i + n), from first to last, for i below count; in
     * place, so that count + n - 1 hashes are read. */
    void (*hash_ngrams)(uint64_t *hashes, size_t count, unsigned n);
};

const struct text_kernels *text_kernels_at(enum cpu_level level); /* NULL: not on this machine */
const struct text_kernels *text_kernels_best(void);

/* What levels without code of their own share with the portable one. */
size_t token_spans_portable(const uint64_t *tokens, size_t blocks, struct token_span *spans);
void hash_tokens_portable(const char *bytes, const struct token_span *spans, size_t count,
                          uint64_t *hashes);
void hash_ngrams_portable(uint64_t *hashes, size_t count, unsigned n);
extern const struct text_kernels text_kernels_portable;
extern const struct text_kernels text_kernels_avx2, text_kernels_avx512;
extern const struct text_kernels text_kernels_neon;

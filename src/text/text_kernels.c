#include "text/text_kernels.h"

#include <string.h>

#include "base/hash.h"
#include "text/token_mask_loop.h"

static const uint64_t every_byte = 0x0101010101010101u;

/* 0x80 in every byte of x (all below 0x80) that lies in first .. last. */
static uint64_t bytes_between(uint64_t x, char first, char last) {
    uint64_t from = x + (uint64_t)(0x80 - first) * every_byte;
    uint64_t behind = x + (uint64_t)(0x7f - last) * every_byte;
    return from & ~behind & 0x80 * every_byte;
}

static size_t lower_ascii(const char *in, size_t size, char *out) {
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t x;
        memcpy(&x, in + i, 8);
        if (x & 0x80 * every_byte)
            break;
        x += bytes_between(x, 'A', 'Z') >> 2;
        memcpy(out + i, &x, 8);
    }
    for (; i < size && (unsigned char)in[i] < 0x80; i++)
        out[i] = in[i] >= 'A' && in[i] <= 'Z' ? (char)(in[i] + 32) : in[i];
    return i;
}

enum { LETTER = 1, NUMBER = 2, UNDERSCORE = 4, MID_LETTER = 8, MID_NUMBER = 16 };

static unsigned byte_class(unsigned char byte) {
    if ((byte >= 'a' && byte <= 'z') || byte >= 0x80)
        return LETTER;
    if (byte >= '0' && byte <= '9')
        return NUMBER;
    if (byte == '_')
        return UNDERSCORE;
    if (byte == '\'' || byte == '.')
        return MID_LETTER | MID_NUMBER;
    return byte == ',' || byte == ';' ? MID_NUMBER : 0;
}

static void classify(const char *block, struct block_classes *classes) {
    memset(classes, 0, sizeof *classes);
    for (unsigned i = 0; i < TEXT_BLOCK_BYTES; i++) {
        uint64_t class = byte_class((unsigned char)block[i]);
        classes->letter |= (class & 1) << i;
        classes->number |= (class >> 1 & 1) << i;
        classes->underscore |= (class >> 2 & 1) << i;
        classes->mid_letter |= (class >> 3 & 1) << i;
        classes->mid_number |= (class >> 4 & 1) << i;
    }
}

static void token_mask(const char *folded, size_t blocks, bool inner, uint64_t *tokens) {
    token_mask_loop(classify, folded, blocks, inner, tokens);
}

size_t token_spans_portable(const uint64_t *tokens, size_t blocks, struct token_span *spans) {
    uint32_t *edges_begin = (uint32_t *)spans, *edge = edges_begin;
    uint64_t carry = 0;
    for (size_t b = 0; b < blocks; b++) {
        uint64_t mask = tokens[b];
        uint64_t edges = mask ^ (mask << 1 | carry);
        carry = mask >> 63;
        for (; edges; edges &= edges - 1)
            *edge++ = (uint32_t)(b * TEXT_BLOCK_BYTES + (unsigned)__builtin_ctzll(edges));
    }
    return (size_t)(edge - edges_begin) / 2;
}

enum { HASH_GROUP = 256, SIZE_CLASSES = 3 };

/* By classes of size: XXH3 branches on the size, which for words in their order cannot be
 * predicted. */
static void hash_group(const char *bytes, const struct token_span *spans, size_t count,
                       uint64_t *hashes) {
    uint16_t order[SIZE_CLASSES][HASH_GROUP + 1];
    size_t counts[SIZE_CLASSES] = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t size = spans[i].end - spans[i].begin;
        for (int class = 0; class < SIZE_CLASSES; class ++)
            order[class][counts[class]] = (uint16_t)i;
        counts[0] += size <= 3;
        counts[1] += size > 3 && size <= 8;
        counts[2] += size > 8;
    }
    for (int class = 0; class < SIZE_CLASSES; class ++)
        for (size_t i = 0; i < counts[class]; i++) {
            struct token_span span = spans[order[class][i]];
            hashes[order[class][i]] = hash_bytes(bytes + span.begin, span.end - span.begin);
        }
}

void hash_tokens_portable(const char *bytes, const struct token_span *spans, size_t count,
                          uint64_t *hashes) {
    for (size_t i = 0; i < count; i += HASH_GROUP)
        hash_group(bytes, spans + i, count - i < HASH_GROUP ? count - i : HASH_GROUP, hashes + i);
}

void hash_ngrams_portable(uint64_t *hashes, size_t count, unsigned n) {
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = hashes[i];
        for (size_t j = i + 1; j < i + n; j++)
            hash = hash_pair(hash, hashes[j]);
        hashes[i] = hash;
    }
}

const struct text_kernels text_kernels_portable = {lower_ascii, token_mask, token_spans_portable,
                                                   hash_tokens_portable, hash_ngrams_portable};

const struct text_kernels *text_kernels_at(enum cpu_level level) {
    static const struct text_kernels *const levels[CPU_LEVEL_COUNT] =
        CPU_TABLE(&text_kernels_portable, &text_kernels_portable, &text_kernels_avx2,
                  &text_kernels_avx512, &text_kernels_neon);
    return cpu_supports(level) ? levels[level] : NULL;
}

const struct text_kernels *text_kernels_best(void) {
    return text_kernels_at(cpu_best_level());
}

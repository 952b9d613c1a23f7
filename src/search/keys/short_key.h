/* Short signatures as integers: 64 or 128 bits, left-aligned in 128, so that bit 0 of a signature
 * is the highest bit and a prefix is a shift. Arrays of keys hold one or two words a key, the
 * higher word first. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

typedef unsigned __int128 short_key;

enum { SHORT_KEY_RADIUS_MAX = 8, SHORT_KEY_ROWS_MAX = 0x7fffffff };

static inline short_key short_key_at(const uint64_t *keys, unsigned words, size_t i) {
    if (words == 1)
        return (short_key)keys[i] << 64;
    return (short_key)keys[2 * i] << 64 | keys[2 * i + 1];
}

static inline void short_key_put(uint64_t *keys, unsigned words, size_t i, short_key key) {
    keys[words * i] = (uint64_t)(key >> 64);
    if (words == 2)
        keys[2 * i + 1] = (uint64_t)key;
}

static inline short_key short_key_of_row(const struct signatures_view *view, size_t row) {
    uint64_t word[2] = {0, 0};
    memcpy(word, signature_row(view, row), view->bits / 8);
    return (short_key)__builtin_bswap64(word[0]) << 64 | __builtin_bswap64(word[1]);
}

/* Without the instruction the builtin is a call; this is not. */
static inline unsigned short_key_popcount(uint64_t x) {
#if defined(__POPCNT__) || !defined(__x86_64__)
    return (unsigned)__builtin_popcountll(x);
#else
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (unsigned)(x * 0x0101010101010101u >> 56);
#endif
}

static inline unsigned short_key_distance(short_key x, short_key y) {
    short_key difference = x ^ y;
    uint64_t low = (uint64_t)difference; /* zero in keys of 64 bits */
    return short_key_popcount((uint64_t)(difference >> 64)) + (low ? short_key_popcount(low) : 0);
}

/* The first `bits` bits; bits 0..64. */
static inline uint64_t short_key_prefix(short_key key, unsigned bits) {
    return bits == 0 ? 0 : (uint64_t)(key >> 64) >> (64 - bits);
}

/* A mask of bits [first, first + width). */
static inline short_key short_key_mask(unsigned first, unsigned width) {
    short_key ones = width == 0 ? 0 : ~(short_key)0 << (128 - width);
    return ones >> first;
}

/* COG_ERR_USAGE unless the view has 64 or 128 bits a row, at most SHORT_KEY_ROWS_MAX rows, and the
 * radius is at most SHORT_KEY_RADIUS_MAX. */
cog_status short_key_check(const struct signatures_view *view, unsigned radius_bits,
                           cog_error *error);

/* Short signatures (64 or 128 bits) as integer keys, and the distinct keys of a collection.
 *
 * short_key: a signature left-aligned in 128 bits, so that bit 0 of the signature is the highest
 * bit and a prefix is a shift. Arrays of keys hold one or two words per key, the higher word first.
 *
 * key_set: the distinct keys of a collection in order, and the rows of each key. Equal signatures
 * are stored and compared once. A build sorts the keys and needs twice their memory while it runs.
 */
#pragma once

#include "hamming/hamming.h"
#include "search/keys/key_sort.h"

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

/* Without the popcnt instruction the builtin is a function call; this code avoids it. */
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

/* COG_ERR_USAGE unless the view has 64 or 128 bits per row, at most SHORT_KEY_ROWS_MAX rows, and
 * the radius is at most SHORT_KEY_RADIUS_MAX. */
cog_status short_key_check(const struct signatures_view *view, unsigned radius_bits,
                           cog_error *error);

/* The rows of key i: entries[i] is the row, or, if its highest bit is set, a position in `groups`,
 * where the number of rows and then the rows follow in ascending order. */
struct key_rows {
    uint32_t *entries;
    uint32_t *groups;
    size_t entry_count, group_words;
    size_t entries_bytes; /* as allocated, on large pages */
};

/* Free with key_set_free. */
struct key_set {
    struct key_array keys; /* distinct keys; its `rows` is NULL */
    struct key_rows rows;
};

/* The rows of key i, borrowed from `rows`; sets *count. */
static inline const uint32_t *key_rows_of(const struct key_rows *rows, size_t i, size_t *count) {
    uint32_t entry = rows->entries[i];
    if (entry >> 31 == 0) {
        *count = 1;
        return &rows->entries[i];
    }
    const uint32_t *group = rows->groups + (entry & 0x7fffffff);
    *count = group[0];
    return group + 1;
}

/* Whether key_rows_of may be called for key i: false only for rows in a damaged file. */
static inline bool key_rows_are_sound(const struct key_rows *rows, size_t i) {
    if (i >= rows->entry_count)
        return false;
    uint32_t entry = rows->entries[i], place = entry & 0x7fffffff;
    return entry >> 31 == 0 || (place < rows->group_words && rows->groups[place] > 0 &&
                                rows->groups[place] < rows->group_words - place);
}

cog_status key_set_build(struct key_set *set, const struct signatures_view *view, unsigned threads,
                         cog_error *error);
/* From keys with rows, in row order. Takes over the array, also on failure. */
cog_status key_set_from(struct key_set *set, struct key_array *keys, unsigned threads,
                        cog_error *error);
/* Writes the keys of the view's rows to keys[first], keys[first + 1], ...; row numbers also start
 * at `first`. */
cog_status key_array_load(struct key_array *keys, size_t first, const struct signatures_view *view,
                          unsigned threads, cog_error *error);
void key_rows_free(struct key_rows *rows);
void key_set_free(struct key_set *set);

/* The steps of a set join one by one, on arrays in memory, for engines that spread the join over
 * machines. set_join.h is the same join on one machine.
 *
 * Sets are ordered as for set_prefix.h: rare members first, by approximate counts. A set has its
 * prefix as keys; sets that share a key are candidates. A pair is proposed once if its sets share
 * one of their first two keys, otherwise once per shared key. For containment the other members are
 * keys too: the larger set has no prefix. Nothing is missed, even if the counts are wrong. */
#pragma once

#include "base/error.h"
#include "join/sets/set_measure.h"

/* Counts of members: two 4-bit slots per byte, and numbers for members with full slots. Members
 * that share a slot are counted together, so a count may be too high. */
struct key_counts {
    uint8_t *slots; /* 2^slot_bits of them */
    unsigned slot_bits;
    uint32_t *frequent; /* 2^frequent_bits */
    unsigned frequent_bits;
};
void key_counts_add(struct key_counts *counts, const int64_t *members, size_t count);
void key_counts_merge(struct key_counts *counts, const struct key_counts *other);
/* 1 means that no other set has the member. */
uint32_t key_count(const struct key_counts *counts, uint64_t member);

/* A key of a set. KEY_NONE if the set has fewer keys. */
#define KEY_NONE (-1)
struct set_key {
    int64_t row, key;
    int32_t place, size;   /* place of the key in its set; size of the set */
    int64_t first, second; /* the first two keys of the set */
};
/* Zero-initialise; free() the items. */
struct set_key_list {
    struct set_key *items;
    size_t count, capacity;
    uint64_t *order;
    size_t order_capacity;
};
/* Adds the keys of a set of strictly ascending members below 2^48. */
cog_status set_keys_add(struct set_key_list *list, int64_t row, const int64_t *members,
                        size_t count, const struct key_counts *counts,
                        const struct set_measure *measure, cog_error *error);
void set_key_list_free(struct set_key_list *list);

/* Rows of keys, sorted by key, then by size. Keys are grouped by all bits; only the lowest KEY_BITS
 * are compared with `first` and `second`. The bits above separate parts of a key. */
enum { KEY_BITS = 49 };
enum key_flags {
    KEY_SIDE = 1,      /* the row is in the second of two collections, or of two parts of one */
    KEY_ACROSS = 2,    /* compare rows of this key only with those of the other side */
    KEY_HAS_TERMS = 4, /* for keys of words: two such sets are compared by their terms instead */
    KEY_LARGER = 8     /* compare only with the rows before it */
};
struct key_rows {
    const int64_t *keys, *first, *second;
    const int32_t *places, *sizes;
    const uint8_t *flags;
    size_t count;
};
struct key_pairs {
    int64_t *a, *b; /* row positions; across sides, b is of the second */
    size_t count, capacity_a, capacity_b;
    uint64_t comparisons;
};
/* Adds the candidates. Zero-initialise the pairs; key_pairs_free releases. */
cog_status key_pairs_find(const struct key_rows *rows, const struct set_measure *measure,
                          struct key_pairs *pairs, cog_error *error);
void key_pairs_free(struct key_pairs *pairs);

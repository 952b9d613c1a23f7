/* Posting lists of a segment's sets, from a member to the rows that have it, for searches with any
 * threshold.
 *
 * The members of a segment have one order: ascending number of rows that have them, then ascending
 * member. It follows from the lists themselves and never changes, because a segment does not. A
 * posting stores, in 256 classes, how far back in the order of its own set the member is, and a
 * list is sorted by class. So the rows that have the member in their prefix for a threshold
 * (join/sets/set_prefix.h) are the beginning of the list.
 *
 * Lists have no heads. Members are spread evenly, so their first bits are the number of a bucket of
 * about 16 postings, and the next 24 bits separate the members of a bucket. Two members that agree
 * in all these bits share a list; that costs a comparison and misses nothing. 8.5 bytes per
 * posting. */
#pragma once

#include "base/io/output.h"
#include "vector/member_set.h"

enum { MEMBER_LIST_CLASSES = 256, MEMBER_CLASS_SHIFT = 32, MEMBER_TAG_SHIFT = 40 };

/* Mapped, or owned; member_lists_free releases the latter. */
struct member_lists {
    uint64_t *starts;  /* of the 2^bits buckets, and the end */
    uint64_t *entries; /* 24 bits of the member, 8 bits class, 32 bits row; strictly ascending
                          within a bucket, except for members that share a list */
    uint64_t count;    /* entries */
    unsigned bits;
    struct room starts_room, entries_room; /* if owned */
};

/* The sets of rows. `members` is called several times per row: it sets the members, valid until the
 * next call, and returns their number; 0 for none. */
struct member_source {
    size_t (*members)(void *context, size_t row, const uint64_t **members);
    void *context;
    size_t rows;
};

/* The number of bits for lists with this number of entries. */
unsigned member_lists_bits(uint64_t entries);
/* If `near_path` is not NULL, the lists and all temporary data are in scratch files in the folder
 * of that file, and memory does not grow with the sets. Members are then sorted into parts of about
 * a million before they are distributed to buckets, so that data larger than memory is read and
 * written sequentially. COG_ERR_CANCELLED if the job is stopped. */
cog_status member_lists_build(const struct member_source *source, unsigned threads,
                              const char *near_path, struct member_lists *lists, cog_error *error);
void member_lists_free(struct member_lists *lists);

static inline uint64_t member_list_bucket(const struct member_lists *lists, uint64_t member) {
    return member >> (MEMBER_BITS - lists->bits);
}
/* The bits that identify a member within its bucket, shifted to their position in an entry. */
static inline uint64_t member_list_tag(const struct member_lists *lists, uint64_t member) {
    enum { UNUSED_BITS = 64 - MEMBER_BITS };
    return member << (lists->bits + UNUSED_BITS) >> MEMBER_TAG_SHIFT << MEMBER_TAG_SHIFT;
}
static inline uint32_t member_entry_row(uint64_t entry) {
    return (uint32_t)entry;
}
static inline unsigned member_entry_class(uint64_t entry) {
    return (unsigned)(entry >> MEMBER_CLASS_SHIFT & (MEMBER_LIST_CLASSES - 1));
}

/* The list of a member. In a damaged file the rows may be any numbers. */
struct member_list {
    const uint64_t *entries;
    uint64_t count;
};
struct member_list member_lists_find(const struct member_lists *lists, uint64_t member);
/* The number of its entries with a class of at most `most`. */
uint64_t member_list_upto(const struct member_list *list, unsigned most);
/* Prefetches the two locations that member_lists_find reads: first the start, then, in a second
 * round, the entries. */
static inline void member_lists_prefetch(const struct member_lists *lists, uint64_t member) {
    __builtin_prefetch(&lists->starts[member_list_bucket(lists, member)]);
}
static inline void member_lists_prefetch_entries(const struct member_lists *lists,
                                                 uint64_t member) {
    uint64_t start = lists->starts[member_list_bucket(lists, member)];
    if (start < lists->count)
        __builtin_prefetch(&lists->entries[start]);
}

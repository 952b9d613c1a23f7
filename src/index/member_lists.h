/* Posting lists of a segment's sets: from a member to the rows that have it, for searches by any
 * threshold.
 *
 * The members of a segment have one order: rising number of rows that have them, then rising
 * member. It follows from the lists themselves and never changes, because a segment does not. A
 * posting knows how far behind in the order of its own set the member stands, in 256 classes, and a
 * list is sorted by class: the rows that have the member in their prefix for a threshold
 * (join/sets/set_prefix.h) are the beginning of the list.
 *
 * A list has no head of its own. Members are spread evenly, so their first bits number buckets of
 * about 16 postings, and 24 bits behind these tell the members of a bucket apart. Two members that
 * agree in all of these share a list: that costs a comparison and misses nothing. 8.5 bytes per
 * posting. */
#pragma once

#include "base/io/output.h"
#include "vector/member_set.h"

enum { MEMBER_LIST_CLASSES = 256 };

/* In a map, or owned; member_lists_free releases the latter. */
struct member_lists {
    uint64_t *starts;  /* of buckets, 2^bits of them, and the end */
    uint64_t *entries; /* 24 bits of the member, 8 bits class, 32 bits row; strictly rising in a
                          bucket but for members that share a list */
    uint64_t count;    /* entries */
    unsigned bits;
    struct room starts_room, entries_room; /* if they are owned */
};

/* The sets of rows, as building asks for them several times: the members of a row, valid until the
 * next call; 0 of them if it has none. */
struct member_source {
    size_t (*members)(void *context, size_t row, const uint64_t **members);
    void *context;
    size_t rows;
};

/* The bits that lists of that many entries have. */
unsigned member_lists_bits(uint64_t entries);
/* If `beside` is not NULL, the lists and all that is needed to make them stand in scratch files in
 * the folder of that file: memory does not grow with the sets. Then members are sorted into parts
 * of about a million before they are spread to their buckets, so that what is larger than memory is
 * read and written in order. COG_ERR_CANCELLED if the job is stopped. */
cog_status member_lists_build(const struct member_source *source, unsigned threads,
                              const char *beside, struct member_lists *lists, cog_error *error);
void member_lists_free(struct member_lists *lists);

static inline uint64_t member_list_bucket(const struct member_lists *lists, uint64_t member) {
    return member >> (MEMBER_BITS - lists->bits);
}
/* What tells a member apart in its bucket, in its place in an entry. */
static inline uint64_t member_list_tag(const struct member_lists *lists, uint64_t member) {
    enum { UNUSED_BITS = 64 - MEMBER_BITS, TAG_SHIFT = 40 };
    return member << (lists->bits + UNUSED_BITS) >> TAG_SHIFT << TAG_SHIFT;
}
static inline uint32_t member_entry_row(uint64_t entry) {
    return (uint32_t)entry;
}
static inline unsigned member_entry_class(uint64_t entry) {
    return (unsigned)(entry >> 32 & (MEMBER_LIST_CLASSES - 1));
}

/* The list of a member. Rows of a damaged file may be any. */
struct member_list {
    const uint64_t *entries;
    uint64_t count;
};
struct member_list member_lists_find(const struct member_lists *lists, uint64_t member);
/* How many of its entries have no class above `most`. */
uint64_t member_list_upto(const struct member_list *list, unsigned most);
/* Both places that member_lists_find will read come into the cache: first the start, then, in a
 * second round, the entries. */
static inline void member_lists_prefetch(const struct member_lists *lists, uint64_t member) {
    __builtin_prefetch(&lists->starts[member_list_bucket(lists, member)]);
}
static inline void member_lists_prefetch_entries(const struct member_lists *lists,
                                                 uint64_t member) {
    uint64_t start = lists->starts[member_list_bucket(lists, member)];
    if (start < lists->count)
        __builtin_prefetch(&lists->entries[start]);
}

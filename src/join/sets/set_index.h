/* Posting lists of prefixes: from a member to the documents that have it in their prefix.
 *
 * Documents are identified by rank, their position in the order in which the join takes them. Lists
 * grow in that order and are read from the newest posting to the oldest. Members are not stored: a
 * tag of 15 bits separates most of them, and a collision costs a comparison. 12 bytes per posting
 * and 4 to 8 for the heads of lists. One thread adds; any number may read while none adds. */
#pragma once

#include "vector/member_set.h"

#define POSTING_NONE UINT32_MAX

struct posting {
    uint32_t next; /* the next older posting of the list */
    uint32_t rank;
    uint16_t place;         /* of the member in its set; 65535: there or later */
    uint16_t is_prefix : 1; /* 0: from the rest of the set (set_prefix.h) */
    uint16_t tag : 15;
};

struct set_index {
    uint32_t *heads;
    struct posting *postings;
    size_t count, capacity;
    uint64_t mask; /* the number of heads is a power of two */
};

/* The number of postings that fit into `bytes`. */
size_t set_index_capacity(uint64_t bytes);
uint64_t set_index_bytes(size_t capacity);
cog_status set_index_init(struct set_index *index, size_t capacity, cog_error *error);
void set_index_free(struct set_index *index);
/* Removes all postings. */
void set_index_clear(struct set_index *index);

static inline uint32_t *set_index_head(const struct set_index *index, uint64_t member) {
    return &index->heads[member & index->mask];
}

static inline uint16_t set_index_tag(uint64_t member) {
    return (uint16_t)(member >> (MEMBER_BITS - 15));
}

/* Requires a free posting. */
static inline void set_index_add(struct set_index *index, uint64_t member, uint32_t rank,
                                 uint32_t place, bool is_prefix) {
    uint32_t *head = set_index_head(index, member);
    index->postings[index->count] =
        (struct posting){.next = *head,
                         .rank = rank,
                         .place = place < UINT16_MAX ? (uint16_t)place : UINT16_MAX,
                         .is_prefix = is_prefix,
                         .tag = set_index_tag(member) & 0x7fff};
    *head = (uint32_t)index->count++;
}

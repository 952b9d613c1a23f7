/* Posting lists of prefixes: from a member to the documents that have it in their prefix.
 *
 * Documents are named by their rank, the position in the order in which a join takes them. Lists
 * grow in that order and are read from the newest posting to the oldest. Members are not stored: a
 * tag of 15 bits tells most of them apart, and what it does not tell apart costs a comparison. 12
 * bytes per posting and 4 to 8 for the heads of lists. One thread adds; any number may read while
 * nobody adds. */
#pragma once

#include "vector/member_set.h"

#define POSTING_NONE UINT32_MAX

struct posting {
    uint32_t next; /* older posting of the list */
    uint32_t rank;
    uint16_t place;         /* of the member in its set; 65535: there or behind */
    uint16_t is_prefix : 1; /* 0: of the rest of the set (set_prefix.h) */
    uint16_t tag : 15;
};

struct set_index {
    uint32_t *heads;
    struct posting *postings;
    size_t count, capacity;
    uint64_t mask; /* heads are a power of two */
};

/* The number of postings that fit into that many bytes. */
size_t set_index_capacity(uint64_t bytes);
uint64_t set_index_bytes(size_t capacity);
cog_status set_index_init(struct set_index *index, size_t capacity, cog_error *error);
void set_index_free(struct set_index *index);
/* Forgets all postings. */
void set_index_clear(struct set_index *index);

static inline uint32_t *set_index_head(const struct set_index *index, uint64_t member) {
    return &index->heads[member & index->mask];
}

static inline uint16_t set_index_tag(uint64_t member) {
    return (uint16_t)(member >> (MEMBER_BITS - 15));
}

/* There must be room. */
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

/* Approximate counts of members: in how many documents each member of a file of sets occurs.
 *
 * One byte per slot and no keys: members that share a slot are counted together. A count is never
 * too low, so a count of 1 proves that one document alone has the member; a count that is too high
 * costs time in a join, never a pair. One cache miss per member.
 *
 * What a join wants is an order, so counts are given as classes: the count itself up to
 * MEMBER_COUNT_EXACT, then four classes per doubling, from a smaller table of larger numbers. */
#pragma once

#include "vector/set_file.h"

enum { MEMBER_COUNT_EXACT = 100, MEMBER_CLASSES = MEMBER_COUNT_EXACT + 4 * 32 + 1 };

struct member_counts {
    uint8_t *slots;
    unsigned bits;      /* 2^bits slots */
    uint32_t *frequent; /* how often slots were met that had reached MEMBER_COUNT_EXACT */
};

/* The number of slots for that many members in all, within the limit in bytes (at least 2^16). */
unsigned member_counts_bits(uint64_t members, uint64_t most_bytes);

/* Counts the members of the rows whose mark is set (all if NULL). */
cog_status member_counts_make(struct member_counts *counts, unsigned bits,
                              const struct set_file *file, const uint8_t *marks, unsigned threads,
                              cog_error *error);
void member_counts_free(struct member_counts *counts);

/* classes[i]: of members[i], below MEMBER_CLASSES; 1: one document alone has it. */
void member_counts_get(const struct member_counts *counts, const uint64_t *members, size_t count,
                       uint8_t *classes);

/* Approximate counts of members: in how many documents each member of a file of sets occurs.
 *
 * One byte per slot and no keys: members that share a slot are counted together. A count is never
 * too low, so a count of 1 proves that one document alone has the member; a count that is too high
 * costs time in a join, never a pair. Counts stop at MEMBER_COUNT_MOST. The result does not depend
 * on the number of threads. One cache miss per member. */
#pragma once

#include "vector/set_file.h"

enum { MEMBER_COUNT_MOST = 100 };

struct member_counts {
    uint8_t *slots;
    unsigned bits; /* 2^bits slots */
};

/* The number of slots for that many members in all, within the limit in bytes (at least 2^16). */
unsigned member_counts_bits(uint64_t members, uint64_t most_bytes);

/* Counts the members of the rows whose mark is set (all if NULL). */
cog_status member_counts_make(struct member_counts *counts, unsigned bits,
                              const struct set_file *file, const uint8_t *marks, unsigned threads,
                              cog_error *error);
void member_counts_free(struct member_counts *counts);

/* counts[i]: of members[i]. */
void member_counts_get(const struct member_counts *counts, const uint64_t *members, size_t count,
                       uint8_t *values);

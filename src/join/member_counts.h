/* Approximate counts of members: in how many documents each member of a file of sets occurs.
 *
 * Two bits per slot and no keys: members that share a slot are counted together. Of slots that are
 * full a table of bytes counts on, a thirty-second of their number, and of those that are full a
 * small table of large numbers. A count is never too low, so a count of 1 proves that one document
 * alone has the member; a count that is too high costs time in a join, never a pair. One cache miss
 * per member, more for those that occur often, which are in the cache.
 *
 * What a join wants is an order, so counts are given as classes: the count itself up to
 * MEMBER_COUNT_EXACT, then four classes per doubling. */
#pragma once

#include "vector/set_file.h"

enum { MEMBER_COUNT_EXACT = 100, MEMBER_CLASSES = MEMBER_COUNT_EXACT + 4 * 32 + 1 };

/* Zero-initialise; member_counts_free releases. */
struct member_counts {
    uint8_t *slots;     /* four in a byte */
    unsigned bits;      /* 2^bits slots */
    uint8_t *seconds;   /* how often members were met whose slot was full */
    uint32_t *frequent; /* the same for those */
};

/* The number of slots for that many members in all, within the limit in bytes (at least 2^16). */
unsigned member_counts_bits(uint64_t members, uint64_t most_bytes);
uint64_t member_counts_bytes(unsigned bits);

cog_status member_counts_init(struct member_counts *counts, unsigned bits, cog_error *error);
void member_counts_free(struct member_counts *counts);

/* Counts a set. Any number of threads may add at once. */
void member_counts_add(struct member_counts *counts, const uint64_t *members, size_t count);
/* Asks the memory for the slots that member_counts_add will need for these, and does not wait. */
void member_counts_prefetch(const struct member_counts *counts, const uint64_t *members,
                            size_t count);
/* Takes back what was added for a set, as far as slots are not full. Any number of threads may do
 * so at once, but nobody may add meanwhile. */
void member_counts_remove(struct member_counts *counts, const uint64_t *members, size_t count);

/* Adds the sets of the rows whose mark is set (all if NULL). */
cog_status member_counts_add_rows(struct member_counts *counts, const struct set_file *file,
                                  const uint8_t *marks, unsigned threads, cog_error *error);

/* classes[i]: of members[i], below MEMBER_CLASSES; 1: one document alone has it. Stops, and returns
 * false, when more than most_alone of them are alone. */
bool member_counts_get(const struct member_counts *counts, const uint64_t *members, size_t count,
                       size_t most_alone, uint8_t *classes);

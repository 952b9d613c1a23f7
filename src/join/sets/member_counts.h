/* Approximate counts of members: in how many documents each member of a file of sets occurs.
 *
 * Two to eight bits per slot and no keys: members that share a slot are counted together. When a
 * slot is full, counting continues in a table of bytes, a thirty-second the number of the slots;
 * when that is full, in a small table of large numbers. A count is never too low, so a count of 1
 * proves that only one document has the member. A count that is too high costs time in a join,
 * never a pair. One cache miss per member; with narrow slots, two for some.
 *
 * A join only needs an order, so counts are returned as classes: the count itself up to
 * MEMBER_COUNT_EXACT, then four classes per doubling. */
#pragma once

#include "join/sets/join_checkpoint.h"

enum { MEMBER_COUNT_EXACT = 100, MEMBER_CLASSES = MEMBER_COUNT_EXACT + 4 * 32 + 1 };

/* Zero-initialise; member_counts_free releases. */
struct member_counts {
    uint8_t *slots;
    unsigned bits, width; /* 2^bits slots of `width` bits */
    unsigned full;        /* the maximum of a slot */
    uint8_t *seconds;     /* further counts of members whose slot is full */
    uint32_t *frequent;   /* further counts of members whose second is full */
    uint64_t identity;    /* of the count; equal only for the same tables */
};

void member_counts_free(struct member_counts *counts);
uint64_t member_counts_bytes(const struct member_counts *counts);
/* The memory that the tables for this number of members would take. */
uint64_t member_counts_predict_bytes(uint64_t members, uint64_t most_bytes);

/* Counts the sets of the rows whose mark is set (all if NULL), with checkpoints. Continues from the
 * tables of an earlier job unless they are much larger than most_bytes. Initialises the counts. */
cog_status member_counts_make(struct member_counts *counts, uint64_t members, uint64_t most_bytes,
                              const struct set_file *file, const uint8_t *marks, unsigned threads,
                              struct join_checkpoints *checkpoints, cog_error *error);
/* Writes a checkpoint after the first `rows` rows are counted. */
cog_status member_counts_save(const struct member_counts *counts, size_t rows,
                              struct join_checkpoints *checkpoints, cog_error *error);
void member_counts_remove_saved(const struct join_checkpoints *checkpoints);

/* Sets classes[i] to the class of members[i], below MEMBER_CLASSES; 1 means that only one document
 * has it. Stops and returns false if more than most_alone members have class 1. */
bool member_counts_get(const struct member_counts *counts, const uint64_t *members, size_t count,
                       size_t most_alone, uint8_t *classes);

/* Approximate counts of members: in how many documents each member of a file of sets occurs.
 *
 * Two to eight bits per slot and no keys: members that share a slot are counted together. A table
 * of bytes, a thirty-second of the slots, counts on where a slot is full, and a small table of
 * large numbers where those are. A count is never too low, so a count of 1 proves that one document
 * alone has the member; a count that is too high costs time in a join, never a pair. One cache miss
 * per member, with narrow slots two for some.
 *
 * What a join wants is an order, so counts are given as classes: the count itself up to
 * MEMBER_COUNT_EXACT, then four classes per doubling. */
#pragma once

#include "join/sets/join_checkpoint.h"

enum { MEMBER_COUNT_EXACT = 100, MEMBER_CLASSES = MEMBER_COUNT_EXACT + 4 * 32 + 1 };

/* Zero-initialise; member_counts_free releases. */
struct member_counts {
    uint8_t *slots;
    unsigned bits, width; /* 2^bits slots of `width` bits */
    unsigned full;        /* what a slot counts up to */
    uint8_t *seconds;     /* how often members were met whose slot was full */
    uint32_t *frequent;   /* the same, behind those */
    uint64_t identity;    /* of the counting: equal only for the same tables */
};

/* Tables for that many members in all, within most_bytes if these are 32 KiB or more. */
cog_status member_counts_init(struct member_counts *counts, uint64_t members, uint64_t most_bytes,
                              cog_error *error);
void member_counts_free(struct member_counts *counts);
uint64_t member_counts_bytes(const struct member_counts *counts);
/* What member_counts_init would take. */
uint64_t member_counts_predict_bytes(uint64_t members, uint64_t most_bytes);

/* Counts the sets of the rows whose mark is set (all if NULL), with checkpoints; of what an earlier
 * job has counted, the tables are taken, unless they are much larger than most_bytes. The counts
 * are initialised. */
cog_status member_counts_make(struct member_counts *counts, uint64_t members, uint64_t most_bytes,
                              const struct set_file *file, const uint8_t *marks, unsigned threads,
                              struct join_checkpoints *checkpoints, cog_error *error);
/* A checkpoint of the counts once the first rows are counted. */
cog_status member_counts_save(const struct member_counts *counts, size_t rows,
                              struct join_checkpoints *checkpoints, cog_error *error);
void member_counts_remove_saved(const struct join_checkpoints *checkpoints);

/* classes[i]: of members[i], below MEMBER_CLASSES; 1: one document alone has it. Stops, and returns
 * false, when more than most_alone of them are alone. */
bool member_counts_get(const struct member_counts *counts, const uint64_t *members, size_t count,
                       size_t most_alone, uint8_t *classes);

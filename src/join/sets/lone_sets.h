/* Documents that cannot have a partner, found before a join counts and sorts their terms.
 *
 * A set of which more members are met in no other set than a partner could lack has no partner. For
 * most documents a share of the members shows it, the same share of the values for all: for a
 * threshold of 0.8 a partner may lack a fifth of a set, so that three fifths of the values are
 * enough where half of the members are met once. Two bits per slot say whether members were met
 * once or more often; members that share a slot look as if they were met again, which costs time in
 * the join, never a pair. */
#pragma once

#include "join/sets/set_measure.h"
#include "vector/set_file.h"

/* Clears the marks of such documents among those that are marked. Does nothing where it would not
 * pay: for containment and for low thresholds, and if most_bytes are too few for that many members.
 * *taken_bytes: what the tables take, one per thread if they take no more than the counts of all
 * members would. */
cog_status lone_sets_unmark(const struct set_file *file, uint64_t members,
                            const struct set_measure *measure, uint64_t most_bytes,
                            unsigned threads, uint8_t *marks, uint64_t *taken_bytes,
                            cog_error *error);

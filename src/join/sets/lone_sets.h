/* Finds documents that cannot have a partner, before a join counts and sorts their terms.
 *
 * A set has no partner if more of its members occur in no other set than a partner may lack. For
 * most documents a share of the members, the same share of the values for all, is enough to show
 * it. With a threshold of 0.8 a partner may lack a fifth of a set, so three fifths of the values
 * suffice if half of the members occur once. Two bits per slot record whether members were met once
 * or more often. Members that share a slot look as if they were met again, which costs time in the
 * join but never a pair. */
#pragma once

#include "join/sets/set_measure.h"
#include "vector/set_file.h"

/* Clears the marks of such documents among the marked ones. Does nothing if it would not pay: for
 * containment, for low thresholds, and if most_bytes is too small for that many members.
 * *taken_bytes is the size of the tables: one per thread if they take no more than the counts of
 * all members would. */
cog_status lone_sets_unmark(const struct set_file *file, uint64_t members,
                            const struct set_measure *measure, uint64_t most_bytes,
                            unsigned threads, uint8_t *marks, uint64_t *taken_bytes,
                            cog_error *error);

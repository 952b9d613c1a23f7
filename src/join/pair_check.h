/* Verifies pairs proposed by signatures: computes the cosine of two sparse rows, or the Jaccard
 * coefficient of two sets. Uses all threads. The pairs of a row are adjacent, so that the row is
 * spread over the columns once and a cosine costs one step per term of the other row. */
#pragma once

#include "search/hits/hit_lists.h"
#include "vector/sparse.h"

/* Vectors, or sets if the vectors are NULL: [0] for the rows a of the pairs, [1] for the rows b. */
struct pair_check {
    const uint32_t *rows[2]; /* the rows that the numbers in pairs refer to, ascending; NULL: the
                                numbers are rows */
    const struct sparse_matrix *vectors[2];
    const struct set_collection *sets[2];
    double threshold;
    unsigned threads;
    bool scattered; /* few pairs share a row: multiply two rows at a time, do not sort */
};

/* Keeps the pairs of a sorted list whose measure reaches the threshold, in their order; sets their
 * similarity to the measure. */
cog_status pair_check_run(const struct pair_check *check, struct match_list *matches,
                          cog_error *error);
/* The same for pairs in any order, on the calling thread; used as a match_sieve. Sorts the pairs
 * unless they are scattered. `context` is a struct pair_check. */
cog_status pair_check_keep(void *context, struct match *items, size_t *count, cog_error *error);

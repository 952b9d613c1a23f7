/* True measures of pairs that signatures propose: the cosine of two sparse rows, or the Jaccard
 * coefficient of two sets. All threads work; the pairs of a row stand together, so that it is
 * spread over the columns once and a cosine costs as much as the other row has terms. */
#pragma once

#include "search/hits/hit_lists.h"
#include "vector/sparse.h"

/* Vectors, or sets where those are NULL: of the rows a and of the rows b of the pairs. */
struct pair_check {
    const uint32_t *rows[2]; /* that the numbers of pairs stand for, rising; NULL: themselves */
    const struct sparse_matrix *vectors[2];
    const struct set_collection *sets[2];
    double threshold;
    unsigned threads;
    bool scattered; /* few pairs have a row in common: multiply two rows at a time, sort nothing */
};

/* Keeps the pairs of a sorted list whose measure reaches the threshold, in their order, with that
 * as their similarity. */
cog_status pair_check_run(const struct pair_check *check, struct match_list *matches,
                          cog_error *error);
/* The same for some pairs in any order, by the calling thread: for a match_sieve. Sorts the pairs
 * unless they are scattered.
 * The context is a struct pair_check. */
cog_status pair_check_keep(void *context, struct match *items, size_t *count, cog_error *error);

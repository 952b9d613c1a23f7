/* Exhaustive join: all pairs of rows within a radius, inside one collection or between two, by
 * comparing every pair in tiles. Exact; the result is sorted and the same for any number of
 * threads. */
#pragma once

#include "hamming/signatures.h"
#include "search/hits/match_list.h"

/* Pairs (a, b), a < b, of one collection. similarity is the estimated cosine of a random
 * projection, cos(pi distance / bits). matches is overwritten: zero-initialise it, free it with
 * match_list_free; its limit and its sieve hold. threads = 0 means all. comparisons, which may be
 * NULL, counts the pairs compared while the join runs. */
cog_status flat_join_self(const struct signatures_view *rows, uint32_t radius_bits,
                          unsigned threads, struct match_list *matches, uint64_t *comparisons,
                          cog_error *error);

/* Pairs of a row of one collection and a row of another. */
cog_status flat_join_between(const struct signatures_view *first,
                             const struct signatures_view *second, uint32_t radius_bits,
                             unsigned threads, struct match_list *matches, uint64_t *comparisons,
                             cog_error *error);

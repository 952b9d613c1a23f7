/* Exhaustive join: all pairs of rows within a radius, inside one collection or between two, by
 * comparing every pair in tiles. Exact; the result is sorted and the same for any number of
 * threads. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"

/* If `second` is NULL: pairs (a, b), a < b, of one collection. Otherwise: pairs of a row of the
 * first and a row of the second. The similarity is the cosine that random projection estimates,
 * cos(pi distance / bits). `matches` is overwritten: zero-initialise it, free it with
 * match_list_free; its limit and sieve apply. threads = 0 means all. `comparisons`, which may be
 * NULL, counts the pairs compared while the join runs. */
cog_status flat_join(const struct signatures_view *first, const struct signatures_view *second,
                     uint32_t radius_bits, unsigned threads, struct match_list *matches,
                     uint64_t *comparisons, cog_error *error);

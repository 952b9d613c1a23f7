/* All pairs of sets with |a and b| / |a or b| at or above a threshold, exactly: the quotient as a
 * double is compared with the threshold. Two empty sets do not match. Members that no other row has
 * are not listed, only counted in sizes[]: see set_collection. */
#pragma once

#include "join/join.h"
#include "vector/sparse.h"

/* Pairs of rows a < b of one collection if b is NULL, else of rows of a and rows of b, whose
 * members are numbered together: unlisted members are those that one row of one side alone has.
 * `matches` must be empty. */
cog_status jaccard_join(const struct set_collection *a, const struct set_collection *b,
                        const struct join_options *options, struct match_list *matches,
                        cog_error *error);

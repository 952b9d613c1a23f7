/* All pairs of sets with |a and b| / |a or b| at or above a threshold, exactly: the quotient as a
 * double is compared with the threshold. Two empty sets do not match. Members that no other row has
 * are not listed, only counted in sizes[]: see set_collection. */
#pragma once

#include "join/join.h"
#include "vector/sparse.h"

/* Pairs of rows a < b of one collection. `matches` must be empty. */
cog_status jaccard_join_self(const struct set_collection *sets, const struct join_options *options,
                             struct match_list *matches, cog_error *error);

/* Rows of a against rows of b; members are numbered for both together, and unlisted ones are those
 * that no row of either has beside their owner. */
cog_status jaccard_join_cross(const struct set_collection *a, const struct set_collection *b,
                              const struct join_options *options, struct match_list *matches,
                              cog_error *error);

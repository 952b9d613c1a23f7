/* The nearest rows between a block of each side of a link, for searches that are spread over
 * machines: what the methods exact and flat find is the best of what they find between all blocks.
 *
 * In: the vectors of two blocks. Out: for each row of the first its nearest rows of the second,
 * with cosines; by the method flat its nearest by signatures, with distances and cosines. */
#pragma once

#include "jobs/link/link_candidates.h"
#include "search/hits/hit_lists.h"

bool link_block_has_method(cog_method method);
/* blocks[0] asks, and is of `side`. Hits of a row stand together, the nearest first. */
cog_status link_block_nearest(const struct sparse_matrix blocks[2],
                              const struct link_search *search, int side, unsigned threads,
                              struct match_list *hits, cog_error *error);

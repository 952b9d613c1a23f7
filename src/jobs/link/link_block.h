/* The nearest rows between a block of each side of a link, for searches spread over machines:
 * merging the best results over all pairs of blocks gives what the methods exact and flat find.
 *
 * In: the vectors of two blocks. Out: for each row of the first block its nearest rows of the
 * second, with cosines; with the method flat, the nearest by signature, with distances and cosines.
 */
#pragma once

#include "jobs/link/link_candidates.h"
#include "search/hits/hit_lists.h"

bool link_block_has_method(cog_method method);
/* blocks[0] has the queries and belongs to `side`. The hits of a row are adjacent, nearest first.
 */
cog_status link_block_nearest(const struct sparse_matrix blocks[2],
                              const struct link_search *search, int side, unsigned threads,
                              struct match_list *hits, cog_error *error);

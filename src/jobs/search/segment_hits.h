/* Searches of all segments of an index, and the merging of their hits. */
#pragma once

#include "jobs/index/index_handle.h"
#include "search/hits/hit_lists.h"

/* Searches one segment; rows of the hits count from its first. k = 0 asks for all hits. */
typedef cog_status part_search(void *context, size_t part, size_t k, struct hit_lists *lists,
                               cog_error *error);
/* Searches all segments and merges: rows that are not removed, the best k of each query (0: all).
 */
cog_status hit_lists_search(const cog_index *index, size_t queries, size_t k, enum hit_order order,
                            part_search *search, void *context, struct hit_lists *lists,
                            cog_error *error);

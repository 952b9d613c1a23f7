/* The nearest documents of the other side, from proposals or by exact search.
 *
 * In: pairs of rows proposed by a method, or nothing for the exact search. Out: neighbours with
 * true cosines, of one side or of both. The vectors are processed block by block (vector_block.h),
 * so a side on disk is never completely in memory. */
#pragma once

#include "jobs/link/blocks/vector_block.h"
#include "join/cosine/cosine_topk.h"
#include "search/hits/hit_lists.h"

/* The k nearest of all rows of a side, exactly. */
cog_status link_nearest_exactly(const struct link_space *space, int side, size_t k,
                                unsigned threads, struct cosine_neighbours *nearest,
                                cog_error *error);
/* The same for some source documents. */
cog_status link_nearest_of_rows(const struct link_space *space, const uint32_t *rows, size_t count,
                                size_t k, unsigned threads, struct cosine_neighbours *nearest,
                                cog_error *error);
/* Computes the cosines of pairs of a row a of one side and a row b of the other, and offers those
 * above 0 to the neighbours of a and of b; either may be NULL. The pairs must be sorted by a and
 * distinct; the list is consumed. */
cog_status link_nearest_of_pairs(const struct link_space *space, int side, unsigned threads,
                                 struct match_list *pairs, struct cosine_neighbours *of_a,
                                 struct cosine_neighbours *of_b, cog_error *error);
/* Memory of an exact search in addition to its result: two blocks, and the neighbours found in
 * them. */
uint64_t link_nearest_memory_bytes(const struct link_space *space, int side, size_t k,
                                   unsigned threads);

/* The nearest documents of the other side, gathered from proposals and from blocks.
 *
 * In: pairs of rows that a method proposes, or nothing, for the exact search. Out: neighbours with
 * true cosines, of one side or of both. The vectors are gone through block by block
 * (vector_block.h), so that a side on disk is never in memory as a whole. */
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
/* Computes the cosines of pairs of rows a of a side and rows b of the other, and offers those above
 * 0 to the neighbours of a, and of b; either may be NULL. The pairs are sorted by a, and each is
 * there once; the list is used up. */
cog_status link_nearest_of_pairs(const struct link_space *space, int side, unsigned threads,
                                 struct match_list *pairs, struct cosine_neighbours *of_a,
                                 struct cosine_neighbours *of_b, cog_error *error);
/* What an exact search takes beside its result: two blocks, and what it finds in them. */
uint64_t link_nearest_memory_bytes(const struct link_space *space, int side, size_t k,
                                   unsigned threads);

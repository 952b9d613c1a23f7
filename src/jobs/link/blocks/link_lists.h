/* Candidates by posting lists: the method lists for links.
 *
 * Target documents are processed in blocks, and a block is stored by term. A source document adds
 * up its products over its most useful terms: those with the largest square of the term's weight,
 * divided by the number of target documents with the term. It stops at a budget of products per
 * document, so the time is linear in the documents instead of quadratic. The documents of the block
 * with the largest sums are proposed, their true cosines are computed immediately, and both sides
 * keep the nearest seen so far. The budget is the smallest of a few with which a sample of source
 * documents is proposed the wanted share of its nearest, which are found exactly beforehand.
 *
 * Memory: a block of target documents with its lists, a smaller block of source documents (the
 * blocks themselves only if the vectors are on disk), and 4 bytes per term and thread. */
#pragma once

#include "jobs/link/link_candidates.h"

/* Fills both sides. `search` contains the wanted recall. */
cog_status link_lists_find(struct link_candidates *candidates, struct job *job,
                           const struct link_space *space, const struct link_search *search,
                           cog_error *error);
/* How many documents are proposed to a source document. */
size_t link_lists_proposals(const struct link_search *search);
/* Memory in addition to the result. */
uint64_t link_lists_memory_bytes(const struct link_space *space, const struct link_search *search,
                                 unsigned threads);

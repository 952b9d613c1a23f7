/* Candidates by posting lists: the method lists of links.
 *
 * Target documents are taken in blocks, and a block is stored by term. A source document adds up
 * its products over those of its terms that tell most for what they cost: the square of the term's
 * weight over the number of target documents that have it. It stops at a budget of products per
 * document, so that time is linear in the documents, where all products would take quadratic time.
 * The documents of the block with the largest sums are proposed, their true cosines are computed at
 * once, and both sides keep the nearest that they have seen. The budget is the smallest of a few
 * with which a sample of source documents is proposed the wanted share of its nearest, found
 * exactly before.
 *
 * In memory is a block of target documents with its lists, and a smaller one of source documents
 * (both only if they are on disk), and 4 bytes per term and thread. */
#pragma once

#include "jobs/link/link_candidates.h"

/* Fills both sides. `search` has the wanted recall. */
cog_status link_lists_find(struct link_candidates *candidates, struct job *job,
                           const struct link_space *space, const struct link_search *search,
                           cog_error *error);
/* What it takes beside its result. */
uint64_t link_lists_memory_bytes(const struct link_space *space, const struct link_search *search,
                                 unsigned threads);

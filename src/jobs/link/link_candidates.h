/* Candidates for links: the nearest documents of the other language, exactly, or proposed by
 * inverted lists or signatures with the true cosines computed afterwards. */
#pragma once

#include "jobs/link/link_proposals.h"
#include "join/cosine_topk.h"

/* Zero-initialise; link_candidates_free releases. */
struct link_candidates {
    struct cosine_neighbours sides[2]; /* of the source documents, of the target documents */
    float beyond; /* what a neighbour that was not found is taken to have for a cosine, 0 or more */
};

/* The search's wanted numbers of nearest documents; method exact, or one of link_proposals.h, of
 * which the recall is measured and reported. */
cog_status link_candidates_find(struct link_candidates *candidates, const struct link_space *space,
                                const struct link_search *search, cog_error *error);
void link_candidates_free(struct link_candidates *candidates);
/* About what the search takes beside the space, its result included. */
uint64_t link_candidates_memory_bytes(const struct link_space *space,
                                      const struct link_search *search);

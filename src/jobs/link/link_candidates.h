/* Candidates for links: the nearest documents of the other language, with their true cosines.
 *
 * The method exact computes all cosines. Other methods propose documents, whose cosines are
 * computed afterwards: methods that search signatures propose the nearest signatures; hash tables
 * and sliding windows propose the pairs within a radius that they meet; lists propose documents
 * that share rare terms (link_lists.h). The recall of proposals is measured on a sample and
 * reported. */
#pragma once

#include "jobs/link/link_space.h"
#include "join/cosine/cosine_topk.h"

/* Zero-initialise; link_candidates_free releases. */
struct link_candidates {
    struct cosine_neighbours sides[2]; /* of the source documents, of the target documents */
    float beyond; /* the cosine that a neighbour which was not found is taken to have, 0 or more */
    const float *lengths[2]; /* of link_space, borrowed */
};

struct link_search {
    cog_method method;               /* not auto */
    const cog_link_options *options; /* bits, recall, knobs */
    size_t wanted[2]; /* neighbours of a document of each side; 0: leave out the side */
};

cog_status link_candidates_find(struct link_candidates *candidates, struct job *job,
                                const struct link_space *space, const struct link_search *search,
                                cog_error *error);
/* The rows that a document of a side is proposed, at least. */
size_t link_proposals(const struct link_search *search, int side);

/* The radius of hash tables and windows is one within which a source document has about as many
 * others, by a sample of LINK_RADIUS_ROWS rows and by the LINK_RADIUS_NEAREST times as many nearest
 * of each. */
enum { LINK_RADIUS_ROWS = 256, LINK_RADIUS_NEAREST = 4 };
size_t link_radius_rows(size_t documents, uint32_t rows[LINK_RADIUS_ROWS]);
/* histogram: how many of the nearest of `count` rows have each distance, up to `bits`. */
uint32_t link_radius_of(const size_t *histogram, size_t count, const struct link_search *search,
                        unsigned bits);
void link_candidates_free(struct link_candidates *candidates);
/* About what the search takes in addition to the space, its result included. */
uint64_t link_candidates_memory_bytes(const struct link_space *space,
                                      const struct link_search *search, unsigned threads);

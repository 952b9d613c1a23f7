/* Candidates for links: the nearest documents of the other language, with their true cosines.
 *
 * The method exact computes all cosines. Other methods propose documents, whose cosines are
 * computed afterwards: methods that search signatures propose the nearest signatures; hash tables
 * and sliding windows propose the pairs that they find within a radius; lists propose documents
 * that share rare terms (link_lists.h). The recall of proposals is measured on a sample and
 * reported. */
#pragma once

#include "jobs/link/link_space.h"
#include "join/cosine/cosine_topk.h"

/* Zero-initialise; link_candidates_free releases. */
struct link_candidates {
    struct cosine_neighbours sides[2]; /* of the source documents, of the target documents */
    float beyond;            /* the assumed cosine of neighbours that were not found; 0 or more */
    const float *lengths[2]; /* from link_space, borrowed */
};

struct link_search {
    cog_method method;               /* must not be auto */
    const cog_link_options *options; /* bits, recall, knobs */
    size_t wanted[2];                /* neighbours per document of each side; 0: skip the side */
};

cog_status link_candidates_find(struct link_candidates *candidates, struct job *job,
                                const struct link_space *space, const struct link_search *search,
                                cog_error *error);
/* The minimum number of rows proposed to a document of a side. */
size_t link_proposals(const struct link_search *search, int side);

/* The radius of hash tables and windows is chosen so that a source document has about this many
 * others within it, from a sample of LINK_RADIUS_ROWS rows and the LINK_RADIUS_NEAREST times as
 * many nearest of each. Posting lists are planned by the same sample. */
enum { LINK_RADIUS_ROWS = 256, LINK_RADIUS_NEAREST = 4 };
size_t link_radius_rows(size_t documents, uint32_t rows[LINK_RADIUS_ROWS]);
/* histogram[d]: how many of the nearest of `count` rows are at distance d, up to `bits`. */
uint32_t link_radius_of(const size_t *histogram, size_t count, const struct link_search *search,
                        unsigned bits);
void link_candidates_free(struct link_candidates *candidates);
/* The approximate memory of the search in addition to the space, including its result. */
uint64_t link_candidates_memory_bytes(const struct link_space *space,
                                      const struct link_search *search, unsigned threads);

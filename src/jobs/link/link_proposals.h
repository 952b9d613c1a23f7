/* Documents of the other language that are proposed as partners. By signatures: the nearest of all
 * (flat), of those that slice lists show (slices), or those within a radius that share a key in a
 * hash table (lsh) or meet in a sliding window (window). By inverted lists: those of a cosine that
 * about as many reach as are wanted (lists). */
#pragma once

#include "jobs/link/link_space.h"
#include "search/flat/flat.h"

/* Zero-initialise; link_proposals_free releases. */
struct link_proposals {
    struct hit_lists sides[2]; /* of the source documents, of the target documents */
    float beyond; /* the cosine at the radius, or that of the lists; 0 where there is none */
};

/* method: flat, slices, lists, lsh or window. wanted: how many a document of each side needs at
 * least; 0 leaves out the target side. */
struct link_search {
    cog_method method;
    const cog_link_options *options; /* bits, recall, and the methods' own */
    size_t wanted[2];
};

cog_status link_proposals_find(struct link_proposals *proposals, const struct link_space *space,
                               const struct link_search *search, cog_error *error);
void link_proposals_free(struct link_proposals *proposals);
/* About how many bytes a document of a side takes meanwhile. */
size_t link_proposals_row_bytes(const struct link_search *search, int side);

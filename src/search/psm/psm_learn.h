/* What psm learns from a collection: how bits of near-duplicates differ, and up to which penalty
 * their headers differ. A sample of the rows, or of the queries, asks the index for its neighbours.
 * What separates the weights of both is the paper's distribution of weight differences (section 4);
 * where only those of the queries are known, differences of random pairs stand in, as wide as makes
 * the flips that were seen most likely. The penalties of the flips that lead to the neighbours tell
 * which bound finds which share of them. */
#pragma once

#include "search/psm/psm.h"

enum { PSM_BOUNDS = 1001 };

struct psm_learned {
    struct volatility volatility; /* of weights relative to their mean size */
    unsigned radius_bits;         /* of the pairs */
    size_t pairs; /* that it was learned from; 0: random pairs, and there are no bounds */
    uint32_t bounds[PSM_BOUNDS]; /* by wanted recall, in thousandths */
};

struct psm_lesson {
    const struct psm_index *index; /* of the rows of `stored` */
    const struct signatures_view *stored;
    const float *stored_weights;         /* rows x bits; NULL: not known */
    const struct signatures_view *asked; /* the same as `stored`: rows ask for other rows */
    const float *asked_weights;
    unsigned radius_bits;
};

/* Where fewer than 100 pairs are within the radius, the distribution is that of random pairs. Needs
 * two asked rows. */
cog_status psm_learn(const struct psm_lesson *lesson, unsigned threads, struct psm_learned *learned,
                     cog_error *error);

/* The bound for a recall: as learned, or where that cannot be (another radius, too few pairs), by
 * the model. */
cog_status psm_learned_bound(const struct psm_learned *learned, const struct psm_queries *queries,
                             unsigned header_bits, unsigned radius_bits, double recall,
                             uint32_t *bound, cog_error *error);

/* What psm learns from a collection with weights: how bits of near-duplicates differ, and up to
 * which penalty their headers differ. A sample of the rows asks the index for its neighbours; what
 * separates them from these is the paper's distribution of weight differences (section 4), and the
 * penalties of the flips that lead there tell which bound finds which share. */
#ifndef COGNATE_INDEX_PSM_LEARN_H
#define COGNATE_INDEX_PSM_LEARN_H

#include "index/psm.h"

enum { PSM_BOUNDS = 1001 };

struct psm_learned {
    struct volatility volatility;
    unsigned radius_bits; /* of the pairs */
    size_t pairs;         /* that it was learned from; 0: random pairs, and there are no bounds */
    uint32_t bounds[PSM_BOUNDS]; /* by wanted recall, in thousandths */
};

/* The index is that of the rows of `view`; weights are rows x bits. Where fewer than 100 pairs are
 * within the radius, the distribution is that of random pairs. */
cog_status psm_learn(const struct psm_index *index, const struct signatures_view *view,
                     const float *weights, unsigned radius_bits, unsigned threads,
                     struct psm_learned *learned, cog_error *error);

/* The bound for a recall: as learned, or where that cannot be (another radius, too few pairs), by
 * the model. */
cog_status psm_learned_bound(const struct psm_learned *learned, const struct psm_queries *queries,
                             unsigned header_bits, unsigned radius_bits, double recall,
                             uint32_t *bound, cog_error *error);

#endif

/* The best chain of cells: ascending in both documents, using no sentence twice, with the largest
 * sum of gains. Excludes cells far from a common order. O(n log n) in the cells. */
#pragma once

#include "jobs/link/sentences/sentence_cells.h"

/* Scratch memory. Zero-initialise; reusable; sentence_chain_free releases. */
struct sentence_chain {
    double *sums;       /* by cell: the sum of the best chain that ends with it */
    uint32_t *previous; /* by cell: the cell before it in that chain */
    struct chain_best {
        double sum;
        uint32_t cell;
    } * tree;        /* of prefix maxima, by target sentence */
    uint32_t *cells; /* the chain, in ascending order */
    size_t count, sum_capacity, previous_capacity, tree_capacity, cell_capacity;
};
void sentence_chain_free(struct sentence_chain *chain);

/* `gains`: by cell; cells without a positive gain are left out. */
cog_status sentence_chain_find(struct sentence_chain *chain, const struct sentence_cells *cells,
                               const float *gains, uint32_t from_count, uint32_t to_count,
                               cog_error *error);

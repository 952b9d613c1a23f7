/* All pairs of rows whose dot product is at or above a threshold: the exact cosine join for rows of
 * unit length. Empty rows match nothing. The decision and the reported similarity are sparse_dot's
 * value. With options->tails pairs may be missed; what is listed is right.
 *
 * Two ways lead to the pairs, and the cheaper one by a sample of the rows is taken: posting lists
 * (cosine_lists.h), or tiles of the products of the columns before a cut (cosine_tiles.h). Both
 * leave out pairs by a bound on what the tails of two rows, the columns from some column on, may
 * add to their product. Exactly that bound is the product of the norms of the tails. In nearly all
 * pairs the tails add much less, a share that is the cosine of the tails; a join that expects less
 * of them leaves out more, and misses a pair here and there. */
#pragma once

#include "join/join.h"
#include "vector/sparse.h"

/* Vectors are of single precision: the product of a vector with itself may miss 1 by this much. Who
 * asks for a threshold takes it off, so that a cosine that is nearer to the threshold than that
 * counts as reaching it. */
#define COSINE_PRECISION 2e-7

/* Pairs of rows a < b of one matrix if b is NULL, else of rows of a and rows of b; both have the
 * same columns. `matches` must be empty. */
cog_status cosine_join(const struct sparse_matrix *a, const struct sparse_matrix *b,
                       const struct join_options *options, struct match_list *matches,
                       cog_error *error);

/* The tails from each of the cuts on, and those from any column on that both rows have. Columns are
 * numbered from those that the fewest pairs of rows share: the columns before an early cut hold
 * most of the length of the rows and hardly any of the products. */
enum { COSINE_CUTS = 12, COSINE_TAIL_MET = COSINE_CUTS, COSINE_TAILS };

/* Each cut has about twice the products of the one before it. */
struct cosine_cuts {
    uint32_t columns[COSINE_CUTS]; /* rising; the last stands behind all columns */
    double products[COSINE_CUTS];  /* of the columns before it, for a pair of rows on average */
};

/* The cuts of two matrices with the same columns; they may be one. */
cog_status cosine_cuts_find(const struct sparse_matrix *x, const struct sparse_matrix *y,
                            struct cosine_cuts *cuts, cog_error *error);

/* Greatest cosines of the tails, at most 1. */
struct cosine_tails {
    double cosines[COSINE_TAILS];
};

/* The least of each with which a join at the threshold keeps this pair, whose product reaches it:
 * the product before the column plus this share of the product of the tails' norms reaches the
 * threshold. */
void cosine_tails_needed(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                         size_t b, double threshold, const struct cosine_cuts *cuts,
                         struct cosine_tails *needed);

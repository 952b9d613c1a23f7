/* What the ends of two rows may add to their product, as a share of the product of their norms: the
 * cosine of the ends. It is 1 in the worst case, and much less in nearly all pairs, so that a join
 * which expects less of the ends leaves out more rows, and misses a pair here and there.
 *
 * A join looks at ends in one of two ways (cosine_join.c): at every column through which it meets a
 * pair in inverted lists, or once, at a cut of the columns, after the products of all columns
 * before it. Columns are numbered from those that the fewest pairs of rows share; the columns
 * before an early cut hold most of the length of the rows and hardly any of the products. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

/* The ends from each of the cuts on, and those from any column on that both rows have. */
enum { COSINE_CUTS = 12, COSINE_REST_MET = COSINE_CUTS, COSINE_RESTS };

/* Each cut has about twice the products of the one before it. */
struct cosine_cuts {
    uint32_t columns[COSINE_CUTS]; /* rising; the last stands behind all columns */
    double products[COSINE_CUTS];  /* of the columns before it, for a pair of rows on average */
};

/* The cuts of two matrices with the same columns; they may be one. */
cog_status cosine_cuts_find(const struct sparse_matrix *x, const struct sparse_matrix *y,
                            struct cosine_cuts *cuts, cog_error *error);

/* Greatest cosines of the ends, at most 1. */
struct cosine_rests {
    double cosines[COSINE_RESTS];
};

/* The least of each with which a join at the threshold keeps this pair, whose product reaches it:
 * what stands before the column plus this share of the product of the norms from there on reaches
 * the threshold. */
void cosine_rests_needed(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                         size_t b, double threshold, const struct cosine_cuts *cuts,
                         struct cosine_rests *needed);

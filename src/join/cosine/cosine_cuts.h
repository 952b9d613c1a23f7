/* Cuts between rare and frequent columns, for the cosine join (cosine_join.h), and what the columns
 * behind a cut, the tails of two rows, add to their product.
 *
 * In: matrices over the same columns. Out: the columns of the cuts with the number of products
 * before each, and for a pair that must be found, the share of the tails that it needs. Costs one
 * pass over the entries, and 4 bytes per column. */
#pragma once

#include "join/cosine/cosine_tiles.h"
#include "vector/sparse.h"

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

/* What the plan wants to know about the rows of a side, collected matrix by matrix.
 * Zero-initialise; cosine_survey_free releases. 4 bytes per column. */
struct cosine_survey {
    size_t rows;
    uint64_t entries;
    uint32_t column_count;
    uint32_t *counts; /* entries of each column */
    struct cosine_extent extent;
};
cog_status cosine_survey_add(struct cosine_survey *survey, const struct sparse_matrix *matrix,
                             cog_error *error);
void cosine_survey_free(struct cosine_survey *survey);
/* The cuts of two surveys over the same columns. */
void cosine_cuts_of(const struct cosine_survey *x, const struct cosine_survey *y,
                    struct cosine_cuts *cuts);

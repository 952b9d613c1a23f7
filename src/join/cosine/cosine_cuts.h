/* Cuts between rare and frequent columns, for the cosine join (cosine_join.h), and bounds on what
 * the tails of two rows (the columns after a cut) add to their product.
 *
 * In: matrices with the same columns. Out: the columns of the cuts with the number of products
 * before each cut, and the share of the tails that a given pair needs in order to be found. Costs
 * one pass over the entries and 4 bytes per column. */
#pragma once

#include "join/cosine/cosine_tiles.h"
#include "vector/sparse.h"

/* One tail for each cut, plus one from any column that both rows have. Columns are numbered from
 * those shared by the fewest pairs of rows, so the columns before an early cut hold most of the
 * rows' length and hardly any of the products. */
enum { COSINE_CUTS = 12, COSINE_TAIL_MET = COSINE_CUTS, COSINE_TAILS };

/* Each cut has about twice as many products as the previous one. */
struct cosine_cuts {
    uint32_t columns[COSINE_CUTS]; /* ascending; the last is after all columns */
    double products[COSINE_CUTS];  /* of the columns before the cut, per pair of rows on average */
};

/* The cuts of two matrices with the same columns; x and y may be the same matrix. */
cog_status cosine_cuts_find(const struct sparse_matrix *x, const struct sparse_matrix *y,
                            struct cosine_cuts *cuts, cog_error *error);

/* Upper bounds on the cosines of the tails, at most 1. */
struct cosine_tails {
    double cosines[COSINE_TAILS];
};

/* For a pair whose product reaches the threshold: the smallest tail cosines with which a join still
 * finds it. With such a cosine, the product before the column plus this share of the product of the
 * tails' norms reaches the threshold. */
void cosine_tails_needed(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                         size_t b, double threshold, const struct cosine_cuts *cuts,
                         struct cosine_tails *needed);

/* Statistics of the rows of one side, input of the plan; collected matrix by matrix.
 * Zero-initialise; cosine_survey_free releases. 4 bytes per column. */
struct cosine_survey {
    size_t rows;
    uint64_t entries;
    uint32_t column_count;
    uint32_t *counts; /* entries per column */
    struct cosine_extent extent;
};
cog_status cosine_survey_add(struct cosine_survey *survey, const struct sparse_matrix *matrix,
                             cog_error *error);
void cosine_survey_free(struct cosine_survey *survey);
/* The cuts of two surveys over the same columns. */
void cosine_cuts_of(const struct cosine_survey *x, const struct cosine_survey *y,
                    struct cosine_cuts *cuts);

/* Lengths of rows and of their ends, and how far a dot product in float may be off: what the
 * filters of the cosine join and the tiles take into account. */
#ifndef COGNATE_MATCH_COSINE_BOUNDS_H
#define COGNATE_MATCH_COSINE_BOUNDS_H

#include "vector/sparse.h"

/* L2 norms are computed in double and kept as floats times this factor, so that they are never too
 * small. */
#define COSINE_ROUND_UP 1.000001f

/* The norm of the part of its row from each entry on, rounded up, for all entries of a matrix. */
void cosine_rest_lengths(const struct sparse_matrix *matrix, float *lengths);

/* The least rest_cosine (join.h) with which a join at the threshold keeps a pair of rows whose
 * product reaches it: at each column that both have, what stands before it plus this share of the
 * product of the norms from there on reaches the threshold. */
double cosine_rest_needed(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                          size_t b, double threshold);

/* The most entries of a row, and the largest norm, rounded up. */
struct cosine_extent {
    size_t count;
    float length;
};
struct cosine_extent cosine_extent(const struct sparse_matrix *matrix);

/* A bound on the difference between sparse_dot and a sum in float, in any order, of products of
 * floats; also covers a comparison of such a sum plus one product of two rounded-up norms. */
double cosine_float_error(struct cosine_extent x, struct cosine_extent y);

#endif

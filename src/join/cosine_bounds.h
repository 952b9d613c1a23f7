/* Lengths of rows and of their ends, and how far a dot product in float may be off: what the
 * filters of the cosine join and the tiles take into account. */
#pragma once

#include "vector/sparse.h"

/* L2 norms are computed in double and kept as floats times this factor, so that they are never too
 * small. */
#define COSINE_ROUND_UP 1.000001f

/* The norm of the part of a row from each of its entries on, rounded up, times a factor. */
void cosine_rest_lengths(const struct sparse_matrix *matrix, size_t row, float factor,
                         float *lengths);

/* The norm of the part of a row from a column on, rounded up. */
float cosine_rest_length(const struct sparse_matrix *matrix, size_t row, uint32_t column);

/* The most entries of a row, and the largest norm, rounded up. */
struct cosine_extent {
    size_t count;
    float length;
};
struct cosine_extent cosine_extent(const struct sparse_matrix *matrix);

/* A bound on the difference between sparse_dot and a sum in float, in any order, of products of
 * floats; also covers a comparison of such a sum plus one product of two rounded-up norms. */
double cosine_float_error(struct cosine_extent x, struct cosine_extent y);

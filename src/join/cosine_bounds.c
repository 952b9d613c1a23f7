#include "join/cosine_bounds.h"

#include <math.h>

void cosine_rest_lengths(const struct sparse_matrix *matrix, size_t row, float factor,
                         float *lengths) {
    const float *values = matrix->values + matrix->offsets[row];
    double squares = 0;
    for (size_t i = (size_t)(matrix->offsets[row + 1] - matrix->offsets[row]); i-- > 0;) {
        squares += (double)values[i] * (double)values[i];
        lengths[i] = (float)sqrt(squares) * COSINE_ROUND_UP * factor;
    }
}

float cosine_rest_length(const struct sparse_matrix *matrix, size_t row, uint32_t column) {
    double squares = 0;
    for (uint64_t i = matrix->offsets[row] + sparse_row_before(matrix, row, column);
         i < matrix->offsets[row + 1]; i++)
        squares += (double)matrix->values[i] * (double)matrix->values[i];
    return (float)sqrt(squares) * COSINE_ROUND_UP;
}

struct cosine_extent cosine_extent(const struct sparse_matrix *matrix) {
    struct cosine_extent extent = {0, 0};
    for (size_t r = 0; r < matrix->rows; r++) {
        size_t count = (size_t)(matrix->offsets[r + 1] - matrix->offsets[r]);
        const float *values = matrix->values + matrix->offsets[r];
        double squares = 0;
        for (size_t i = 0; i < count; i++)
            squares += (double)values[i] * (double)values[i];
        float length = (float)sqrt(squares) * COSINE_ROUND_UP;
        extent.count = count > extent.count ? count : extent.count;
        extent.length = length > extent.length ? length : extent.length;
    }
    return extent;
}

/* n products and their sum are off by at most (n + 1) * 2^-24 * |x| |y| and terms of second order,
 * because the sum of |x_i y_i| is at most |x| |y|. This is twice that, and some more for a last
 * addition. */
double cosine_float_error(struct cosine_extent x, struct cosine_extent y) {
    double count = (double)(x.count < y.count ? x.count : y.count);
    return (count + 16) * 0x1p-23 * (double)x.length * (double)y.length;
}

#include "match/cosine_bounds.h"

#include <math.h>

void cosine_rest_lengths(const struct sparse_matrix *matrix, float *lengths) {
    for (size_t r = 0; r < matrix->rows; r++) {
        double squares = 0;
        for (uint64_t i = matrix->offsets[r + 1]; i-- > matrix->offsets[r];) {
            squares += (double)matrix->values[i] * (double)matrix->values[i];
            lengths[i] = (float)sqrt(squares) * COSINE_ROUND_UP;
        }
    }
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

double cosine_rest_needed(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                          size_t b, double threshold) {
    uint64_t i = x->offsets[a + 1], j = y->offsets[b + 1];
    double dot = sparse_row_dot(x, a, y, b), rest = 0, x_squares = 0, y_squares = 0, needed = 0;
    while (i > x->offsets[a] && j > y->offsets[b]) {
        uint32_t p = x->columns[i - 1], q = y->columns[j - 1];
        double u = p >= q ? (double)x->values[--i] : 0, v = q >= p ? (double)y->values[--j] : 0;
        x_squares += u * u;
        y_squares += v * v;
        rest += u * v;
        if (p != q)
            continue;
        double share = (threshold - (dot - rest)) / sqrt(x_squares * y_squares);
        needed = share > needed ? share : needed;
    }
    return needed;
}

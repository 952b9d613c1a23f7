#include "vector/sparse.h"

#include <stdlib.h>

void sparse_matrix_free(struct sparse_matrix *matrix) {
    free(matrix->offsets);
    free(matrix->columns);
    free(matrix->values);
    *matrix = (struct sparse_matrix){0};
}

void set_collection_free(struct set_collection *sets) {
    free(sets->offsets);
    free(sets->members);
    free(sets->sizes);
    *sets = (struct set_collection){0};
}

double sparse_dot(const uint32_t *a_columns, const float *a_values, size_t a_count,
                  const uint32_t *b_columns, const float *b_values, size_t b_count) {
    double sum = 0;
    size_t i = 0, j = 0;
    while (i < a_count && j < b_count) {
        uint32_t a = a_columns[i], b = b_columns[j];
        if (a == b)
            sum += (double)a_values[i] * (double)b_values[j];
        i += a <= b;
        j += b <= a;
    }
    return sum;
}

size_t set_overlap(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count) {
    size_t overlap = 0, i = 0, j = 0;
    while (i < a_count && j < b_count) {
        uint32_t x = a[i], y = b[j];
        overlap += x == y;
        i += x <= y;
        j += y <= x;
    }
    return overlap;
}

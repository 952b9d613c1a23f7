#include "vector/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void sparse_matrix_free(struct sparse_matrix *matrix) {
    FREE(matrix->offsets, matrix->columns, matrix->values);
    *matrix = (struct sparse_matrix){0};
}

void set_collection_free(struct set_collection *sets) {
    FREE(sets->offsets, sets->members, sets->sizes);
    *sets = (struct set_collection){0};
}

/* Offsets of the listed rows laid end to end, and their columns; NULLs when memory ran out. */
static bool select_rows(const uint64_t *offsets, const uint32_t *columns, const uint32_t *rows,
                        size_t count, uint64_t **new_offsets, uint32_t **new_columns) {
    *new_offsets = memory_array(count + 1, sizeof **new_offsets);
    if (!*new_offsets)
        return false;
    (*new_offsets)[0] = 0;
    for (size_t i = 0; i < count; i++)
        (*new_offsets)[i + 1] = (*new_offsets)[i] + offsets[rows[i] + 1] - offsets[rows[i]];
    *new_columns = memory_array((*new_offsets)[count], sizeof **new_columns);
    if (!*new_columns)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(*new_columns + (*new_offsets)[i], columns + offsets[rows[i]],
               ((*new_offsets)[i + 1] - (*new_offsets)[i]) * sizeof **new_columns);
    return true;
}

bool sparse_matrix_select(const struct sparse_matrix *matrix, const uint32_t *rows, size_t count,
                          struct sparse_matrix *copy) {
    copy->rows = count;
    copy->column_count = matrix->column_count;
    if (!select_rows(matrix->offsets, matrix->columns, rows, count, &copy->offsets, &copy->columns))
        return false;
    copy->values = memory_array(copy->offsets[count], sizeof *copy->values);
    for (size_t i = 0; copy->values && i < count; i++)
        memcpy(copy->values + copy->offsets[i], matrix->values + matrix->offsets[rows[i]],
               (copy->offsets[i + 1] - copy->offsets[i]) * sizeof *copy->values);
    return copy->values != NULL;
}

size_t sparse_row_before(const struct sparse_matrix *matrix, size_t row, uint32_t column) {
    const uint32_t *columns = matrix->columns + matrix->offsets[row];
    size_t low, high = (size_t)(matrix->offsets[row + 1] - matrix->offsets[row]);
    if (high > 0 && columns[high - 1] < column)
        return high;
    FIND_FIRST_NOT(low, 0, high, columns[low] < column);
    return low;
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

double sparse_row_dot(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                      size_t b) {
    uint64_t i = x->offsets[a], j = y->offsets[b];
    return sparse_dot(x->columns + i, x->values + i, (size_t)(x->offsets[a + 1] - i),
                      y->columns + j, y->values + j, (size_t)(y->offsets[b + 1] - j));
}

void sparse_spread(const struct sparse_matrix *matrix, size_t row, float *dense) {
    for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++)
        dense[matrix->columns[i]] = matrix->values[i];
}

void sparse_clear(const struct sparse_matrix *matrix, size_t row, float *dense) {
    for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++)
        dense[matrix->columns[i]] = 0;
}

double sparse_dense_dot(const float *dense, const struct sparse_matrix *matrix, size_t row) {
    double sum = 0;
    for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++)
        sum += (double)dense[matrix->columns[i]] * (double)matrix->values[i];
    return sum;
}

double set_jaccard(const struct set_collection *x, size_t a, const struct set_collection *y,
                   size_t b) {
    uint64_t i = x->offsets[a], j = y->offsets[b];
    size_t overlap = set_overlap(x->members + i, (size_t)(x->offsets[a + 1] - i), y->members + j,
                                 (size_t)(y->offsets[b + 1] - j));
    double either = (double)x->sizes[a] + (double)y->sizes[b] - (double)overlap;
    return either > 0 ? (double)overlap / either : 0;
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

/* Sparse rows: documents as weighted terms (for cosine) and as sets (for Jaccard). The columns of a
 * matrix are term numbers (vector/term_numbers.h), rarest term first. 8 bytes per entry of a
 * matrix, 4 per member of a set. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Row r is columns[offsets[r] .. offsets[r+1]) with their values, columns strictly ascending. For
 * cosines, rows must have unit length or be empty. */
struct sparse_matrix {
    size_t rows;
    uint32_t column_count;
    uint64_t *offsets; /* rows + 1 */
    uint32_t *columns;
    float *values;
};
void sparse_matrix_free(struct sparse_matrix *matrix);

/* Row r is members[offsets[r] .. offsets[r+1]), strictly ascending. A member that only one row has
 * is counted but not listed, so sizes[r], the true size of the set, may be larger than the list. */
struct set_collection {
    size_t rows;
    uint32_t member_count; /* members are numbered from 0 below this */
    uint64_t *offsets;     /* rows + 1 */
    uint32_t *members;
    uint32_t *sizes;
};
void set_collection_free(struct set_collection *sets);

/* Copies the listed rows, in list order. *copy must be zeroed; the caller frees it. False if memory
 * ran out. */
bool sparse_matrix_select(const struct sparse_matrix *matrix, const uint32_t *rows, size_t count,
                          struct sparse_matrix *copy);

/* The number of entries of a row before `column`. */
size_t sparse_row_before(const struct sparse_matrix *matrix, size_t row, uint32_t column);

/* Dot product in double, summed in ascending column order: the same on every machine. */
double sparse_dot(const uint32_t *a_columns, const float *a_values, size_t a_count,
                  const uint32_t *b_columns, const float *b_values, size_t b_count);

/* The same for two rows of matrices with the same columns. */
double sparse_row_dot(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                      size_t b);

/* Writes a row into `dense` by column, for products with many other rows. `dense` must hold
 * column_count zeros; sparse_clear restores them. */
void sparse_spread(const struct sparse_matrix *matrix, size_t row, float *dense);
void sparse_clear(const struct sparse_matrix *matrix, size_t row, float *dense);
/* Product of a spread row with another row. Equals sparse_dot, because a column that only one of
 * them has adds zero. */
double sparse_dense_dot(const float *dense, const struct sparse_matrix *matrix, size_t row);

/* The Jaccard coefficient of two rows, by their true sizes. */
double set_jaccard(const struct set_collection *x, size_t a, const struct set_collection *y,
                   size_t b);

/* |a and b| of two strictly ascending lists. */
size_t set_overlap(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count);

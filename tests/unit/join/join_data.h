/* Random rows for the tests of the joins: skewed columns, near-duplicates, equal, empty and
 * one-column rows. */
#pragma once

#include "base/hash.h"
#include "search/hits/hit_lists.h"
#include "vector/sparse.h"

struct row_shape {
    size_t rows;
    uint32_t columns;
    uint32_t mean_count;
    double skew; /* 1 is uniform; larger makes high columns frequent */
    bool signed_values;
    bool unit; /* rows of unit length */
};

/* Aborts when memory is out: it is a test. */
struct sparse_matrix join_random_matrix(struct random *random, struct row_shape shape);

/* The matches that a join must find, by a double loop. `b` is NULL for a self-join. */
struct match_list join_expected(const struct sparse_matrix *a, const struct sparse_matrix *b,
                                double threshold);

/* Whether two lists agree in every row and similarity; prints where they differ. */
bool join_lists_equal(const struct match_list *found, const struct match_list *expected);

/* Signatures of vectors that exist already: the columns are the terms. Documents that were
 * projected from another language have no terms of their own to sign. */
#pragma once

#include "hamming/hamming.h"
#include "signature/signer.h"
#include "vector/sparse.h"

/* Some rows of a matrix, or (numbers NULL) the first `count`. Borrowed. */
struct vector_rows {
    const struct sparse_matrix *matrix;
    const uint32_t *numbers;
    size_t count;
};

/* free() the data of the view, also after an error. sums, where not NULL, receives the first
 * sums_stride numbers behind the bits of each row. */
cog_status vector_sign(const struct vector_rows *rows, const struct signature_options *options,
                       unsigned threads, struct signatures_view *view, float *sums,
                       size_t sums_stride, cog_error *error);

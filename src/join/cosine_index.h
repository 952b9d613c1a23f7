/* An inverted index of a block of rows for one threshold, holding only the entries through which a
 * pair at or above the threshold can first be met.
 *
 * Why it is safe. Let x(c) be the length (L2 norm) of the part of row x from column c on. If c is
 * the first column that x and y share, then x.y is a sum over columns from c on, and by Cauchy and
 * Schwarz x.y <= x(c) * y(c). A pair with x.y >= t is therefore met at a column with x(c) * y(c) >=
 * t, and the entry of y at c is needed only if y(c) * max|x| >= t. Columns are numbered from the
 * rarest, so what is left out are the entries with the longest lists. Lists are in falling order of
 * y(c), so that a query stops at t / x(c). Both lengths fall along a row: the columns visited for a
 * pair are the first ones of those it shares, and after the last of them, c, x.y <= (sum so far) +
 * x(after c) * y(after c). (Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", WWW
 * 2007; Anastasiu and Karypis, "L2AP", ICDE 2014.) Nothing here needs values of one sign or rows of
 * exactly unit length. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

struct cosine_posting {
    uint32_t row; /* position in the block */
    float value;
    float length;  /* y(c), rounded up to one of COSINE_LEVELS steps */
    uint32_t next; /* place in its row of the entry behind this one */
};

/* The rows once more, with y(c), rounded up, beside each entry. */
struct cosine_entry {
    uint32_t column;
    float value;
    float length;
};

/* Zero-initialise; cosine_index_create makes room and cosine_index_free releases it. One index
 * serves block after block. */
struct cosine_index {
    uint32_t column_count;
    float longest;    /* length of the longest row of the block, rounded up */
    uint32_t *starts; /* column_count + 2; list c is postings[starts[c] .. starts[c+1]) */
    struct cosine_posting *postings;
    struct cosine_entry
        *entries; /* of the block's rows; row r is row_starts[r] .. row_starts[r+1] */
    uint32_t *row_starts;
    struct cosine_staged *staged; /* postings on their way into order */
    uint32_t *order;
    size_t posting_count, row_capacity, entry_capacity;
};

/* Room for blocks of up to so many rows and entries. */
cog_status cosine_index_create(struct cosine_index *index, uint32_t column_count, size_t rows,
                               size_t entries, cog_error *error);
/* Indexes the entries of rows[0..count) whose y(c) is `least` or more: the threshold, lowered by
 * the error of float sums, over the length of the longest query. */
void cosine_index_build(struct cosine_index *index, const struct sparse_matrix *matrix,
                        const uint32_t *rows, size_t count, float least);
void cosine_index_free(struct cosine_index *index);
size_t cosine_index_memory_bytes(uint32_t column_count, size_t rows, size_t entries);

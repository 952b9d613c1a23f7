/* Posting lists of a block of rows for one threshold, with only the entries through which a pair at
 * or above the threshold can first be met; and probes, which find the rows of the block that may
 * reach the threshold with a query. The caller owns lists and probes, one probe per worker.
 *
 * Why it is safe. Let x(c) be the length (L2 norm) of the part of row x from column c on. If c is
 * the first column that x and y share, then x.y is a sum over columns from c on, and by Cauchy and
 * Schwarz x.y <= x(c) * y(c). A pair with x.y >= t is therefore met at a column with x(c) * y(c) >=
 * t, and the entry of y at c is needed only if y(c) * max|x| >= t. Columns are numbered from the
 * rarest, so the entries left out are those with the longest lists. Lists are in descending order
 * of y(c), so a query stops at t / x(c). Both lengths decrease along a row: the columns visited for
 * a pair are the first of its shared columns, and after the last of them, c, x.y <= (sum so far) +
 * x(after c) * y(after c). (Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", WWW
 * 2007; Anastasiu and Karypis, "L2AP", ICDE 2014.) Nothing here needs values of one sign or rows of
 * exactly unit length. */
#pragma once

#include "join/join.h"
#include "vector/sparse.h"

struct cosine_posting {
    uint32_t row; /* position in the block */
    float value;
    float length;  /* y(c), rounded up to one of COSINE_LEVELS steps */
    uint32_t next; /* index of the next entry in the row */
};

/* The rows in row order, each entry with its y(c), rounded up. */
struct cosine_entry {
    uint32_t column;
    float value;
    float length;
};

/* Zero-initialise; cosine_lists_create allocates and cosine_lists_free releases. One instance is
 * reused block after block. */
struct cosine_lists {
    uint32_t column_count;
    float longest;    /* upper bound on the length of any row of any block */
    uint32_t *starts; /* column_count + 2; list c is postings[starts[c] .. starts[c+1]) */
    struct cosine_posting *postings;
    struct cosine_entry
        *entries; /* of the block's rows; row r is row_starts[r] .. row_starts[r+1] */
    uint32_t *row_starts;
    struct cosine_staged *staged; /* postings before sorting */
    uint32_t *order;
    size_t posting_count, row_capacity, entry_capacity;
};

/* For blocks of up to `rows` rows and `entries` entries. */
cog_status cosine_lists_create(struct cosine_lists *lists, uint32_t column_count, size_t rows,
                               size_t entries, cog_error *error);
/* Indexes the entries of rows[0..count) with y(c) >= `least`, which is the threshold (lowered by
 * the error of float sums) divided by the length of the longest query. `longest` is the length of
 * the longest row of all blocks, rounded up. */
void cosine_lists_build(struct cosine_lists *lists, const struct sparse_matrix *matrix,
                        const uint32_t *rows, size_t count, float least, float longest);
void cosine_lists_free(struct cosine_lists *lists);
size_t cosine_lists_memory_bytes(uint32_t column_count, size_t rows, size_t entries);

/* Columns are divided into spans with about equal numbers of entries. The span of a column gives
 * its x(c), slightly overestimated. */
enum { COSINE_SPANS = 128 };

/* The span of each column, from the number of entries per column and in total; free() it. NULL if
 * out of memory. */
uint8_t *cosine_spans(const uint32_t *counts, uint32_t column_count, uint64_t entries);

/* A query's state for a row of the block: the sum so far, and the index of the row's next entry,
 * which is above zero once a product was added. */
struct cosine_accumulator {
    float sum;
    uint32_t next;
};

/* Zero-initialise; cosine_probe_create allocates and cosine_probe_free releases. */
struct cosine_probe {
    const uint8_t *spans;                    /* borrowed */
    struct cosine_accumulator *accumulators; /* by row of the block; zero between queries */
    uint32_t *met; /* rows of the block in the order of their first product */
    float *dense;  /* the query by column; zero between queries */
    float span_lengths[COSINE_SPANS];
};

bool cosine_probe_create(struct cosine_probe *probe, const uint8_t *spans, uint32_t column_count,
                         size_t block_rows);
void cosine_probe_free(struct cosine_probe *probe);
size_t cosine_probe_memory_bytes(uint32_t column_count, size_t block_rows);

struct cosine_query {
    const uint32_t *columns;
    const float *values;
    const float *lengths; /* x(c) at each entry, rounded up */
    size_t count;
};

/* Finds the rows of the block from `first` on that may reach the threshold (lowered by
 * cosine_float_error) with the query and lists them in probe->met. Returns their number; unless it
 * is 0, the query stays loaded. */
size_t cosine_probe_run(struct cosine_probe *probe, const struct cosine_lists *lists,
                        const struct cosine_query *query, float threshold, uint32_t first,
                        struct join_work *work);
/* Unloads the query; before that, products can be computed with sparse_dense_dot and probe->dense.
 */
void cosine_probe_unload(struct cosine_probe *probe, const struct cosine_query *query);

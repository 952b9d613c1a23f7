/* Posting lists of a block of rows for one threshold, with only the entries through which a pair at
 * or above the threshold can first be met; and probes, which find the rows of the block that a
 * query may reach the threshold with. The caller owns lists and probes, one probe per worker.
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

#include "join/join.h"
#include "vector/sparse.h"

struct cosine_posting {
    uint32_t row; /* position in the block */
    float value;
    float length;  /* y(c), rounded up to one of COSINE_LEVELS steps */
    uint32_t next; /* place in its row of the entry behind this one */
};

/* The rows once more, each entry with its y(c), rounded up. */
struct cosine_entry {
    uint32_t column;
    float value;
    float length;
};

/* Zero-initialise; cosine_lists_create makes room and cosine_lists_free releases it. One index
 * serves block after block. */
struct cosine_lists {
    uint32_t column_count;
    float longest;    /* no row of any block is longer */
    uint32_t *starts; /* column_count + 2; list c is postings[starts[c] .. starts[c+1]) */
    struct cosine_posting *postings;
    struct cosine_entry
        *entries; /* of the block's rows; row r is row_starts[r] .. row_starts[r+1] */
    uint32_t *row_starts;
    struct cosine_staged *staged; /* postings on their way into order */
    uint32_t *order;
    size_t posting_count, row_capacity, entry_capacity;
};

/* Room for blocks of up to `rows` rows and `entries` entries. */
cog_status cosine_lists_create(struct cosine_lists *lists, uint32_t column_count, size_t rows,
                               size_t entries, cog_error *error);
/* Indexes the entries of rows[0..count) whose y(c) is `least` or more: the threshold, lowered by
 * the error of float sums, over the length of the longest query. `longest` is the length of the
 * longest row of all blocks, rounded up. */
void cosine_lists_build(struct cosine_lists *lists, const struct sparse_matrix *matrix,
                        const uint32_t *rows, size_t count, float least, float longest);
void cosine_lists_free(struct cosine_lists *lists);
size_t cosine_lists_memory_bytes(uint32_t column_count, size_t rows, size_t entries);

/* Columns are cut into spans of about equally many entries, so that x(c) for any column is found, a
 * little too large, from its span. */
enum { COSINE_SPANS = 128 };

/* The span of each column, by the entries of each and of all; free() it. NULL when memory ran out.
 */
uint8_t *cosine_spans(const uint32_t *counts, uint32_t column_count, uint64_t entries);

/* What a query knows of a row of the block: the products so far, and the place of the row's next
 * entry, which is above zero from the first product on. */
struct cosine_accumulator {
    float sum;
    uint32_t next;
};

/* Zero-initialise; cosine_probe_create makes room and cosine_probe_free releases it. */
struct cosine_probe {
    const uint8_t *spans;                    /* borrowed */
    struct cosine_accumulator *accumulators; /* a row of the block; zero between queries */
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

/* Rows of the block from `first` on that may reach the threshold (lowered by cosine_float_error)
 * with the query; they are in probe->met afterwards. Returns how many; unless that is 0 the query
 * stays loaded. */
size_t cosine_probe_run(struct cosine_probe *probe, const struct cosine_lists *lists,
                        const struct cosine_query *query, float threshold, uint32_t first,
                        struct join_work *work);
/* Takes the query back; until then dense products can be formed (sparse_dense_dot with
 * probe->dense). */
void cosine_probe_unload(struct cosine_probe *probe, const struct cosine_query *query);

/* Finds the rows of an indexed block that one query may reach the threshold with, by the bounds of
 * cosine_index.h. A worker has a probe and uses it for query after query. */
#pragma once

#include "join/cosine_index.h"
#include "join/join.h"

/* Columns are cut into spans of about equally many entries, so that x(c) for any column is found, a
 * little too large, from its span. */
enum { COSINE_SPANS = 128 };

/* The span of each column of a matrix; free() it. NULL when memory is out. */
uint8_t *cosine_spans(const struct sparse_matrix *matrix);

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
size_t cosine_probe_run(struct cosine_probe *probe, const struct cosine_index *index,
                        const struct cosine_query *query, float threshold, uint32_t first,
                        struct join_work *work);
/* Takes the query back; until then dense products can be formed (sparse_dense_dot with
 * probe->dense). */
void cosine_probe_unload(struct cosine_probe *probe, const struct cosine_query *query);

/* The rows of an index as unit vectors, weighed with the current statistics of the index.
 *
 * Segments store frequencies. Weights are computed when a search needs them: those of a whole
 * segment for a search that looks at every row, kept in the handle until the index changes (4 bytes
 * per entry); or those of single rows, for the candidates of a search by signatures. Both give the
 * same numbers. Thread-safe. */
#pragma once

#include "jobs/index/index_job.h"

struct index_weights;
/* For the given number of segments; nothing is weighed or shared yet. */
cog_status index_weights_create(size_t parts, struct index_weights **weights, cog_error *error);
/* Accepts NULL. */
void index_weights_free(struct index_weights *weights);
/* Discards all weights; call when the statistics or the segments have changed. A live index, whose
 * statistics are replaced rather than changed, keeps those still valid. */
cog_status index_reset_weights(cog_index *index, cog_error *error);
/* Gives another state of the index, which has no weights, those of the segments and statistics that
 * it shares. */
cog_status index_share_weights(const cog_index *index, cog_index *other, cog_error *error);

/* All rows of a segment, verified if they come from a file. The view belongs to the index. */
cog_status index_part_vectors(const cog_index *index, size_t part, unsigned threads,
                              struct sparse_matrix *vectors, cog_error *error);

/* The same, written to `values`, which has room for all entries of the segment. */
cog_status index_weigh_part(const cog_index *index, size_t part, unsigned threads, float *values,
                            cog_error *error);

/* Weighs one row at a time. Zero-initialise; row_weights_free releases. */
struct row_weights {
    const uint32_t *columns;
    const float *values;
    size_t count;
    float *own;
    double *idf; /* of the row's terms, while computing those of its segment does not pay */
    size_t own_capacity, idf_capacity;
};
void row_weights_free(struct row_weights *weights);
cog_status index_weigh_row(const cog_index *index, size_t part, uint32_t row,
                           struct row_weights *weights, cog_error *error);

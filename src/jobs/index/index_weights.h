/* The rows of an index as unit vectors, weighed by the statistics that the index has now.
 *
 * Segments keep frequencies. Weights are made from them when a search needs them: those of a whole
 * segment for a search that looks at every row, kept in the handle until the index changes (4 bytes
 * per entry), or those of single rows for the candidates of a search by signatures. Both give the
 * same numbers. Threads may share them. */
#pragma once

#include "jobs/index/index_job.h"

struct index_weights;
/* For as many segments as the index has; nothing is weighed yet, and nothing is shared. */
cog_status index_weights_create(size_t parts, struct index_weights **weights, cog_error *error);
/* Accepts NULL. */
void index_weights_free(struct index_weights *weights);
/* The statistics have changed, or the segments: forgets all weights. A live index, whose statistics
 * stay as they are until others take their place, keeps those that hold. */
cog_status index_reset_weights(cog_index *index, cog_error *error);
/* Another state of the index, without weights, gets those of segments and statistics that it
 * shares. */
cog_status index_share_weights(const cog_index *index, cog_index *other, cog_error *error);

/* All rows of a segment, checked if they come from a file. The view belongs to the index. */
cog_status index_part_vectors(const cog_index *index, size_t part, unsigned threads,
                              struct sparse_matrix *vectors, cog_error *error);

/* The same into room for all entries of the segment. */
cog_status index_weigh_part(const cog_index *index, size_t part, unsigned threads, float *values,
                            cog_error *error);

/* One row after the other. Zero-initialise; row_weights_free releases. */
struct row_weights {
    const uint32_t *columns;
    const float *values;
    size_t count;
    float *own;
    double *idf; /* of the row's terms, while those of its segment are not worth making */
    size_t own_capacity, idf_capacity;
};
void row_weights_free(struct row_weights *weights);
cog_status index_weigh_row(const cog_index *index, size_t part, uint32_t row,
                           struct row_weights *weights, cog_error *error);

/* Searches of all segments of an index by one method, and true cosines of chosen rows.
 *
 * Goes in: what is asked (struct method_search, without rows). Comes out: for each query its hits
 * by distance or similarity, as rows of the whole index, without removed rows. A segment without
 * tables of the method is small and is searched exhaustively. */
#pragma once

#include "jobs/index/index_job.h"

/* Searches and merges: the best asked->k hits of each query, or all if k is 0. The outputs of
 * `asked` are those of all segments together. Signatures give estimated similarities. The scratch
 * of `asked` is an array of one pointer per segment, or NULL. */
cog_status search_segments(const cog_index *index, const struct search_method *method,
                           struct method_search *asked, struct hit_lists *lists, cog_error *error);
/* Whether a segment has tables of the method, or searches build them. */
bool index_serves(const cog_index *index, const struct search_method *method);

/* A query's vector spread out by column, for many products with it. Zero-initialise, then
 * query_spread_init; free() the values. */
struct query_spread {
    float *values; /* zero but for the columns of the query */
    const struct sparse_matrix *queries;
    size_t query; /* that is spread; SIZE_MAX for none */
};
cog_status query_spread_init(struct query_spread *spread, const struct sparse_matrix *queries,
                             cog_error *error);
void query_spread_set(struct query_spread *spread, size_t query);
/* Back to zeros, before the vectors of the queries change. */
void query_spread_clear(struct query_spread *spread);
/* The cosine of the spread query and a row of the index: sparse_dot's value. */
cog_status query_spread_similarity(const struct query_spread *spread, const cog_index *index,
                                   uint32_t row, double *similarity, cog_error *error);

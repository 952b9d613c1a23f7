/* Searches all segments of an index by one method, and computes true cosines of given rows.
 *
 * In: the queries, and the question (struct method_search, without rows and queries). Out: for each
 * query its hits by distance or similarity, as rows of the whole index, without removed rows. A
 * segment without tables of the method is small and is searched exhaustively. */
#pragma once

#include "jobs/index/index_weights.h"
#include "jobs/search/query_parts.h"
#include "jobs/search/search_plan.h"

/* Searches and merges: the best asked->k hits per query, or all if k is 0. With a plan (it may be
 * NULL or empty), each segment has its own method and effort, and if cosines decide, all candidates
 * of all segments are listed. The outputs in `asked` are totals over all segments. Signatures give
 * estimated similarities. The scratch of `asked` is an array with one pointer per segment, or NULL.
 */
cog_status search_segments(const cog_index *index, const struct search_method *method,
                           const struct search_plan *plan, const struct query_parts *queries,
                           struct method_search *asked, struct hit_lists *lists, cog_error *error);
/* Whether a segment has tables of the method, or searches build them. */
bool index_serves(const cog_index *index, const struct search_method *method);

/* A query's vectors in dense form, by the columns of each segment used, for many products with the
 * query. Zero-initialise, then query_spread_init; query_spread_free releases. */
struct query_spread {
    const struct query_parts *queries;
    float *values;  /* of all segments; zero except for the columns of the query */
    size_t *starts; /* by segment: its beginning in values */
    size_t *filled; /* the segments whose columns are filled */
    size_t filled_count;
    uint8_t *is_filled; /* by segment: whether its columns are filled */
    size_t query;       /* the current query; SIZE_MAX for none */
    size_t value_capacity, start_capacity, filled_capacity, is_filled_capacity;
    struct row_weights row;
};
cog_status query_spread_init(struct query_spread *spread, const struct query_parts *queries,
                             cog_error *error);
/* The same for queries of other segments, reusing memory; the values are zero. */
cog_status query_spread_fit(struct query_spread *spread, const struct query_parts *queries,
                            cog_error *error);
void query_spread_free(struct query_spread *spread);
void query_spread_set(struct query_spread *spread, size_t query);
/* Resets to zeros; call before the vectors of the queries change. */
void query_spread_clear(struct query_spread *spread);
/* The cosine of the current query and a row of the index: the value of sparse_dot. */
cog_status query_spread_similarity(struct query_spread *spread, const cog_index *index,
                                   uint32_t row, double *similarity, cog_error *error);

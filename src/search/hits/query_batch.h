/* Many queries on all threads, one at a time on each, for every method that answers a query with
 * scratch of its own. */
#pragma once

#include "search/slices/slices.h"

struct query_batch {
    const struct signatures_view *signatures, *queries;
    const float *weights; /* behind the bits of the queries, or NULL */
    /* What the method is and wants, handed to its functions. */
    const void *method;
    cog_status (*create)(const void *method, void **searcher, cog_error *error);
    cog_status (*search)(const void *method, void *searcher, const uint8_t *query,
                         const float *weights, struct slices_answer *answer, cog_error *error);
    void (*release)(void *searcher); /* accepts NULL */
    slices_emit *emit;
    void *context;
};

/* Calls emit from any thread, once a query. */
cog_status query_batch_run(const struct query_batch *batch, unsigned threads, cog_error *error);

/* Many queries on all threads, one query at a time on each thread: for methods that answer a query
 * with scratch memory of their own (a searcher).
 *
 * Goes in: queries, and the functions of the method. Comes out: the hits of all queries in their
 * order, the same for any number of threads. Searchers are made by the threads that need one and
 * kept in `scratch` if the caller has one. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"

/* What came out for one query. The hits belong to the searcher until its next search. */
struct query_answer {
    const struct neighbour *hits; /* by distance, then row */
    size_t count;
    bool exact;     /* certified: no other row belongs into the answer */
    uint64_t lists; /* posting lists read, without empty ones */
    uint64_t postings, candidates, verified;
};

struct query_batch {
    const struct signatures_view *rows, *queries;
    const float *margins; /* of the queries, or NULL */
    unsigned threads;
    /* What the method is and what is asked, handed to its functions. */
    const void *method;
    cog_status (*create)(const void *method, void **searcher, cog_error *error);
    cog_status (*search)(const void *method, void *searcher, const uint8_t *query,
                         const float *margins, struct query_answer *answer, cog_error *error);
    void (*release)(void *searcher); /* accepts NULL */
    void **scratch; /* NULL, or where searchers are kept: query_batch_free_scratch */
    bool exact_out; /* every answer is */
    uint64_t verified_out;
};

/* hits is overwritten. */
cog_status query_batch_run(struct query_batch *batch, struct hit_lists *hits, cog_error *error);
/* Accepts NULL. */
void query_batch_free_scratch(void *scratch, void (*release)(void *searcher));

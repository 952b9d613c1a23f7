/* Runs many queries on all threads, one query at a time per thread: for methods that answer a query
 * with scratch memory of their own (a searcher).
 *
 * In: the request, and the functions of the method. Out: the hits of all queries in order, the same
 * for any number of threads. Threads create searchers when they need one; the searchers are kept in
 * the scratch of the search if it has one. */
#pragma once

#include "search/method.h"

/* The answer to one query. The hits belong to the searcher until its next search. */
struct query_answer {
    const struct neighbour *hits; /* by distance, then row */
    size_t count;
    bool exact;        /* certified: no other row belongs in the answer */
    uint64_t verified; /* rows that got a true distance */
    double covered;    /* the cosine of covered_out, in a first look */
};

/* How a method answers one query. `context` holds the method and the request. */
struct query_searching {
    cog_status (*create)(const void *context, void **searcher, cog_error *error);
    /* `margins` are the query's, or NULL. */
    cog_status (*search)(const void *context, void *searcher, const uint8_t *query,
                         const float *margins, struct query_answer *answer, cog_error *error);
    void (*release)(void *searcher); /* accepts NULL */
};

/* Answers the queries and sets the outputs of the request; `hits` is overwritten. */
cog_status query_batch_run(const struct query_searching *searching, const void *context,
                           struct method_search *asked, struct hit_lists *hits, cog_error *error);
/* The scratch_free of these methods. Accepts NULL. */
void query_batch_free_scratch(void *scratch);

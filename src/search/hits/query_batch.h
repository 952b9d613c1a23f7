/* Many queries on all threads, one query at a time on each thread: for methods that answer a query
 * with scratch memory of their own (a searcher).
 *
 * Goes in: what a search asks, and the functions of the method. Comes out: the hits of all queries
 * in their order, the same for any number of threads. Searchers are made by the threads that need
 * one and kept in the scratch of the search if it has one. */
#pragma once

#include "search/method.h"

/* What came out for one query. The hits belong to the searcher until its next search. */
struct query_answer {
    const struct neighbour *hits; /* by distance, then row */
    size_t count;
    bool exact;     /* certified: no other row belongs into the answer */
    uint64_t lists; /* posting lists read, without empty ones */
    uint64_t postings, candidates, verified;
    double covered; /* the cosine of covered_out, in a first look */
};

/* How a method answers one query. `context` is what the method is and what is asked. */
struct query_searching {
    cog_status (*create)(const void *context, void **searcher, cog_error *error);
    /* margins are those of the query, or NULL. */
    cog_status (*search)(const void *context, void *searcher, const uint8_t *query,
                         const float *margins, struct query_answer *answer, cog_error *error);
    void (*release)(void *searcher); /* accepts NULL */
};

/* Answers the queries and sets the outputs of the search; hits is overwritten. */
cog_status query_batch_run(const struct query_searching *searching, const void *context,
                           struct method_search *asked, struct hit_lists *hits, cog_error *error);
/* The scratch_free of these methods. Accepts NULL. */
void query_batch_free_scratch(void *scratch);

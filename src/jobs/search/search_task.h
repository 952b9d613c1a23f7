/* The work of a search: queries as signatures and vectors, the method that answers them, and the
 * recall of the result. */
#pragma once

#include "jobs/search/search_plan.h"
#include "jobs/search/search_segments.h"

/* Zero-initialise and fill in; search_task_free releases. */
struct search_task {
    const cog_index *index;
    cog_search_options options;
    const cog_run_options *run; /* may be NULL */
    unsigned threads;
    cog_report *report;
    size_t queries;
    struct query_parts parts; /* the queries for each segment, as far as needed */
    bool has_margins;         /* of the queries' signatures */
    bool has_vectors; /* both queries and index have vectors, so true similarities are possible */
    const uint8_t *is_empty; /* 1 for queries that match nothing; NULL: none. Borrowed. */
    struct hit_lists hits;
    bool estimates; /* the similarities of the hits are estimates */
    bool has_distances;
    bool is_exact;           /* certified: no query misses a hit */
    struct search_plan plan; /* how each segment is searched, if the recall determines it */
    bool looks_first;        /* see first_look.h; queries left open are answered as planned */
    double counted_from;     /* minimum cosine of neighbours that the first look must not miss */
    uint64_t sure;           /* queries answered by the first look, in the last run */
    unsigned effort;         /* the method's effort, without a plan */
    uint64_t candidates;     /* of the last run */
    uint64_t compared;       /* rows, in the last run */
    uint32_t radius_bits;    /* of the last run */
    uint64_t chunks;         /* of a streamed index, in the last run */
    /* Kept by a searcher between queries; NULL: made for each run. One thread only. */
    void **scratch; /* for the method, one per segment */
    struct query_spread *spread;
};
/* Frees queries, hits and the plan. */
void search_task_free(struct search_task *task);

/* Rejects questions that cannot be answered. */
cog_status search_task_check(struct search_task *task, cog_error *error);
/* False if the method compares only vectors, or will. */
bool search_task_needs_signatures(const struct search_task *task);
/* Whether the search uses margins of the queries. */
bool search_task_wants_margins(const cog_index *index, const cog_search_options *options);
/* The memory of the method in addition to its hits. */
double search_task_bytes(const struct search_task *task);
/* Resolves AUTO to a method. If the recall determines the effort, each segment gets the smallest
 * effort that reached it when the segment was built; if none did, everything is compared. Needs
 * only the number of queries and whether they have margins. */
cog_status search_task_choose(struct search_task *task, cog_error *error);
/* Answers with the method of the options, which must not be AUTO, and the task's effort. */
cog_status search_task_run(struct search_task *task, cog_error *error);
/* Reports statistics of the last run. */
void search_task_report(const struct search_task *task);

/* Reports that the answer is exact, or the recall measured on a sample of the queries if the
 * options request it, or else the recall measured at the build. */
cog_status search_task_measure(const struct search_task *task, cog_error *error);

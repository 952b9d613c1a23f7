/* The work behind search: queries as signatures and vectors, the method that answers them, and the
 * recall of what it found. */
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
    struct query_parts parts; /* the queries for each segment, as far as they are needed */
    bool has_margins;         /* of the queries' signatures */
    bool has_vectors;         /* of queries and index: true similarities can be had */
    const uint8_t *is_empty;  /* 1 for queries that match nothing; NULL: none. Borrowed. */
    struct hit_lists hits;
    bool estimates; /* the hits carry estimates */
    bool has_distances;
    bool is_exact;           /* certified: no query misses a hit */
    struct search_plan plan; /* how each segment is asked, if the recall decides */
    bool looks_first;        /* see first_look.h; what it leaves open is answered as planned */
    double counted_from;     /* the least cosine of a neighbour that the first look may not miss */
    uint64_t sure;           /* queries that the first look answered, in the last run */
    unsigned effort;         /* step of the method's effort, without a plan */
    uint64_t candidates;     /* of the last run */
    uint64_t compared;       /* rows, in the last run */
    uint32_t radius_bits;    /* of the last run */
    uint64_t chunks;         /* of a streamed index, in the last run */
    /* What a searcher keeps from query to query; NULL: taken for each run. One thread only. */
    void **scratch; /* of the method, one per segment */
    struct query_spread *spread;
};
/* Frees queries, hits and the plan. */
void search_task_free(struct search_task *task);

/* Refuses what cannot be done. */
cog_status search_task_check(struct search_task *task, cog_error *error);
/* False if the method compares vectors alone, or will. */
bool search_task_needs_signatures(const struct search_task *task);
/* Whether margins of the queries tell the index where to look. */
bool search_task_wants_margins(const cog_index *index, const cog_search_options *options);
/* Memory that the method takes, in addition to its hits. */
double search_task_bytes(const struct search_task *task);
/* AUTO becomes a method. If the recall decides, each segment is asked with the least effort that
 * reached it when the segment was built; if none did, everything is compared. Number of queries and
 * whether they have margins are known; nothing else of them is needed. */
cog_status search_task_choose(struct search_task *task, cog_error *error);
/* What the method is asked for the options, with the task's effort. */
struct method_search search_task_ask(const struct search_task *task);
/* Answers with the method of the options, which is not AUTO, and the task's effort. */
cog_status search_task_run(struct search_task *task, cog_error *error);
/* Reports what the last run did. */
void search_task_report(const struct search_task *task);

/* Reports that the answer is exact, the recall that a sample of the queries has if the options ask
 * for one, or else the recall that was measured at the build. */
cog_status search_task_measure(const struct search_task *task, cog_error *error);

/* The work behind search: queries as signatures and vectors, the methods that answer them, and the
 * recall of what they found. */
#pragma once

#include "jobs/search/search_effort.h"
#include "jobs/search/segment_hits.h"
#include "search/psm/psm_method.h"
#include "search/slices/slices_method.h"

/* Queries that are answered exhaustively, to choose the effort and to tell the recall. */
struct search_sample;
void search_sample_free(struct search_sample *sample);

/* Zero-initialise and fill in; search_task_free releases. */
struct search_task {
    const cog_index *index;
    cog_search_options options;
    const cog_run_options *run; /* may be NULL */
    unsigned threads;
    cog_report *report;
    size_t queries;
    struct signatures_view signatures; /* of the queries; bits 0 where the method needs none */
    const float *weights;              /* behind the bits, or NULL; borrowed */
    bool has_vectors;                  /* of queries and index: true similarities can be had */
    struct sparse_matrix vectors;      /* of the queries */
    const uint8_t *is_empty;           /* 1 for queries that match nothing; NULL: none. Borrowed. */
    struct hit_lists hits;
    bool estimates; /* the hits carry estimates */
    bool has_distances;
    bool is_exact; /* certified: no query misses a hit */
    unsigned step; /* of the effort */
    struct search_sample *sample;
    uint64_t candidates;  /* of the last run */
    uint32_t radius_bits; /* of the last run */
    size_t chunks;        /* of a streamed index, in the last run */
};
/* Frees vectors, hits and the sample. */
void search_task_free(struct search_task *task);

/* What signatures are asked. */
struct signature_search {
    const cog_index *index;
    const struct signatures_view *queries;
    const float *weights;
    cog_method method; /* not AUTO or EXACT */
    struct search_effort effort;
    size_t k; /* 0: all within radius_bits */
    uint32_t radius_bits;
    const cog_knobs *knobs;
    unsigned step;         /* of the effort */
    bool certain;          /* nothing may be missed */
    double recall;         /* PSM */
    bool first;            /* PSM, BPHS: one hit is enough */
    size_t flips;          /* PSM: of each query; 0: by the recall */
    uint64_t memory_bytes; /* of the tables that a streamed index is searched with; 0: any */
    unsigned threads;
    bool is_exact; /* set: no nearer row was missed */
    size_t chunks; /* set: of a streamed index */
};

/* A knob of slices; -1 if it is not given. */
static inline int slices_knob(const cog_search_options *options, unsigned number) {
    bool given = options->knobs.method == COG_METHOD_SLICES && options->knobs.given >> number & 1;
    return given ? (int)options->knobs.values[number] : -1;
}
/* Refuses what cannot be done. */
cog_status search_task_check(struct search_task *task, cog_error *error);
/* What signatures are to be asked for the options. */
struct signature_search search_task_signatures(const struct search_task *task, cog_method method);
/* Sets the step of the effort: the first at which a sample of the queries has the recall of the
 * options. Where no step reaches it, the method becomes one that misses nothing. */
cog_status search_task_tune(struct search_task *task, cog_error *error);
/* Answers with the method of the options, which is not AUTO, and the step of the effort. */
cog_status search_task_run(struct search_task *task, cog_error *error);
/* What the last run did. */
void search_task_report(const struct search_task *task);
/* Whether some segment has slice lists, or columns. */
bool search_task_has_lists(const cog_index *index);
bool search_task_has_columns(const cog_index *index);
/* False where the method is exact, or will be. */
bool search_task_needs_signatures(const struct search_task *task);
/* AUTO becomes a method. True cosines decide by computing them all; else lists are compared with
 * the exhaustive scan by the time that each takes for a part of the work. */
cog_status search_task_choose(struct search_task *task, cog_error *error);
/* Reports the recall that a sample of the queries has, or that the answer is exact. Where the
 * recall of the options is not reached, *enough is false, nothing is reported, and the effort is
 * raised for another run. */
cog_status search_task_measure(struct search_task *task, bool *enough, cog_error *error);

/* ---- Methods: all hits of all queries, in order ---------------------------------------------- */

/* True cosines of all rows: the k greatest, or all at or above the threshold (k = 0). */
cog_status search_exact(const struct search_task *task, const struct sparse_matrix *queries,
                        size_t k, struct hit_lists *lists, cog_error *error);

cog_status search_signatures(struct signature_search *search, struct hit_lists *lists,
                             cog_error *error);

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
/* The cosine of the spread query and a row of the index: sparse_dot's value. */
cog_status query_spread_similarity(const struct query_spread *spread, const cog_index *index,
                                   uint32_t row, double *similarity, cog_error *error);

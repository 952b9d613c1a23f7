/* The preparation of the jobs pairs, dedup and link for a join (pair_join.h): documents of one or
 * two collections in memory, their statistics, vectors or sets, and the rows to compare. The task
 * owns all of it. Memory is predicted from the size of the input, announced, and kept within the
 * budget. */
#pragma once

#include "collection/corpus.h"
#include "collection/row_signer.h"
#include "hamming/hamming.h"
#include "join/pair_check.h"
#include "plan/sampled_truth.h"

/* The rows of a side that have terms to compare, ascending. Other rows match nothing by their
 * vectors or sets, and are neither signed nor sampled. */
struct compared_rows {
    uint32_t *numbers; /* NULL: all rows */
    size_t count;
};

/* How a plan samples and signs rows that do not fit in memory. */
struct rows_on_disk {
    void *context;
    /* A truth_rows.find. */
    cog_status (*find)(void *context, const uint32_t *sample, size_t count,
                       struct match_list *truth, cog_error *error);
    /* Like pair_task_sign. */
    cog_status (*sign)(void *context, size_t side, const struct compared_rows *rows,
                       struct signatures_view *view, float *margins, size_t margins_per_row,
                       cog_error *error);
};

/* Zero-initialise, then pair_join_init; pair_task_free releases. */
struct pair_task {
    cog_pairs_options options; /* for cosines, the threshold is lowered by COSINE_PRECISION */
    double given_threshold;
    struct term_options terms;
    struct weighting weighting;
    const cog_run_options *run;
    unsigned threads;
    cog_report *report;
    size_t sides; /* 1: within a collection, 2: between two */
    /* Side 1 is the corpus of side 0 (which owns it): selected rows are compared with all rows
     * except themselves. */
    bool same_corpus;
    struct corpus corpora[2];
    struct statistics *statistics;
    const struct statistics *given_statistics; /* of the whole collection, for cosines; or NULL */
    struct sparse_matrix vectors[2];           /* cosine; on disk, only the offsets */
    struct set_collection sets[2];             /* Jaccard */
    struct document_sets truth_sets; /* Jaccard: all rows, for the true pairs of a sample */
    const uint8_t *selected[2];      /* marks of rows to compare; NULL: all. Borrowed. */
    struct compared_rows compared[2];
    bool projected;                     /* the vectors are given, from documents of two languages */
    bool has_lent_vectors;              /* mapped from files: not counted as memory of the task */
    const struct rows_on_disk *on_disk; /* NULL: all rows are in memory */
    bool estimates;                     /* the similarities are estimates */
    bool has_distances;
    double announced_bytes;
    struct job job; /* from init to free, on one thread */
};

cog_status pair_task_init(struct pair_task *task, const cog_pairs_options *options, size_t sides,
                          const cog_run_options *run, cog_report *report, cog_error *error);
void pair_task_free(struct pair_task *task);

/* The predicted memory of the documents. */
double pair_task_memory_bytes(const struct pair_task *task, cog_documents *const *documents);
/* Announces the predicted memory; COG_ERR_MEMORY if the budget is smaller. */
cog_status pair_task_check_memory(struct pair_task *task, cog_documents *const *documents,
                                  cog_error *error);
/* The current memory of documents, vectors or sets, and vocabulary. */
uint64_t pair_task_held_bytes(const struct pair_task *task);
/* Call before a method takes another method_bytes: announces the total if it exceeds the announced
 * memory by a tenth. COG_ERR_MEMORY if the budget is smaller. */
cog_status pair_task_take_memory(struct pair_task *task, uint64_t method_bytes, cog_error *error);
/* Makes statistics and vectors or sets from the corpora. */
cog_status pair_task_prepare(struct pair_task *task, cog_error *error);
/* Finds the rows to compare, from the vectors or sets. */
cog_status pair_task_list_rows(struct pair_task *task, cog_error *error);

/* The implementation of cog_pairs: matches with the ids of their rows. */
struct cog_pairs {
    struct match_list matches;
    struct corpus corpora[2]; /* for the ids; empty if rows have none */
    int sides;
    bool estimates, has_distances, has_ids;
};

/* Ends a task that found `matches` with this status: on success they become pairs with the task's
 * ids. Releases task and matches in any case; returns the status. */
cog_status pairs_of_task(struct pair_task *task, cog_status status, struct match_list *matches,
                         cog_pairs **pairs, cog_error *error);

/* Signs rows of a side by their terms, or by their vectors if projected. free() the data of the
 * view, also after an error. `margins`, if not NULL, receives the first margins_per_row margins of
 * each row. */
cog_status pair_task_sign(const struct pair_task *task, size_t side,
                          const struct compared_rows *rows, struct signatures_view *view,
                          float *margins, size_t margins_per_row, cog_error *error);
/* Converts positions among the compared rows to row numbers. */
void pair_task_name_rows(const struct pair_task *task, struct match_list *matches);

/* The part of the budget that a join may use: 0 without a budget, 1 if nothing is left. */
uint64_t pair_task_memory_left(const struct pair_task *task);
/* The number of matches that fit into the rest of the budget (a growing list may double); 0 without
 * a budget. */
size_t pair_task_max_matches(const struct pair_task *task);

/* Jaccard: writes the sets of all rows to a scratch file, as needed by pair_task_truth. */
cog_status pair_task_store_sets(struct pair_task *task, cog_error *error);
/* The compared rows and their true measure, for sampling. */
struct truth_rows pair_task_truth(const struct pair_task *task);
/* How candidates among the compared rows are verified. */
struct pair_check pair_task_check(const struct pair_task *task);
/* The true measure of two rows (of side 0 and of the last side). */
double pair_task_similarity(const struct pair_task *task, uint32_t a, uint32_t b);

/* What the jobs pairs, dedup and link prepare before a join (pair_join.h): documents of one or two
 * collections in memory, their statistics, vectors or sets, and the rows that are compared. The
 * task owns all of it. Memory is predicted from the size of the input, announced, and kept to. */
#pragma once

#include "collection/corpus.h"
#include "collection/row_signer.h"
#include "hamming/hamming.h"
#include "join/pair_check.h"
#include "plan/sampled_truth.h"

/* Rows of a side that have terms to compare, rising. The other rows match nothing by their vectors
 * or sets, and are neither signed nor sampled. */
struct compared_rows {
    uint32_t *numbers; /* NULL: all rows */
    size_t count;
};

/* Rows that do not fit memory: how a plan samples and signs them. */
struct rows_on_disk {
    void *context;
    /* As truth_rows.find. */
    cog_status (*find)(void *context, const uint32_t *sample, size_t count,
                       struct match_list *truth, cog_error *error);
    /* As pair_task_sign. */
    cog_status (*sign)(void *context, size_t side, const struct compared_rows *rows,
                       struct signatures_view *view, float *margins, size_t margins_per_row,
                       cog_error *error);
};

/* Zero-initialise, then pair_join_init; pair_task_free releases. */
struct pair_task {
    cog_pairs_options options; /* its threshold is lowered by COSINE_PRECISION for a cosine */
    double given_threshold;
    struct term_options terms;
    struct weighting weighting;
    const cog_run_options *run;
    unsigned threads;
    unsigned short_terms; /* rows with fewer weighted terms are compared by their term sets */
    cog_report *report;
    size_t sides; /* 1: inside a collection, 2: between two */
    struct corpus corpora[2];
    struct statistics *statistics;
    const struct statistics *given_statistics; /* of the whole collection, for cosines; or NULL */
    struct sparse_matrix vectors[2]; /* cosine; on disk the offsets alone */
    struct set_collection sets[2];   /* Jaccard */
    uint8_t *short_rows[2];          /* cosine: 1 if a row is too short for weights */
    const uint8_t *selected[2];      /* rows that take part; NULL: all. Borrowed. */
    struct compared_rows compared[2];
    bool projected;                     /* the vectors are given: documents of two languages */
    const struct rows_on_disk *on_disk; /* NULL: all rows are in memory */
    bool estimates;                     /* the matches carry estimates */
    bool has_distances;
    double announced_bytes;
    struct job job; /* from init to free, on one thread */
};

cog_status pair_task_init(struct pair_task *task, const cog_pairs_options *options, size_t sides,
                          const cog_run_options *run, cog_report *report, cog_error *error);
void pair_task_free(struct pair_task *task);

/* Predicted bytes of the documents in memory. */
double pair_task_memory_bytes(const struct pair_task *task, cog_documents *const *documents);
/* Announces the predicted memory; COG_ERR_MEMORY if the budget is smaller. */
cog_status pair_task_check_memory(struct pair_task *task, cog_documents *const *documents,
                                  cog_error *error);
/* Bytes that documents, vectors or sets, and vocabulary take now. */
uint64_t pair_task_held_bytes(const struct pair_task *task);
/* Called before a method takes method_bytes more: announces the total if it is a tenth more than
 * was announced; COG_ERR_MEMORY if the budget is smaller. */
cog_status pair_task_take_memory(struct pair_task *task, uint64_t method_bytes, cog_error *error);
/* Makes statistics and vectors or sets from the corpora that were read. */
cog_status pair_task_prepare(struct pair_task *task, cog_error *error);
/* Finds the rows to compare, from the vectors or sets. */
cog_status pair_task_list_rows(struct pair_task *task, cog_error *error);

/* What stands behind cog_pairs: matches with the ids of their rows. */
struct cog_pairs {
    struct match_list matches;
    struct corpus corpora[2]; /* for the ids; empty if rows have none */
    int sides;
    bool estimates, has_distances, has_ids;
};

/* Ends a task that found `matches` with this status: on success they become pairs with the task's
 * ids. Task and matches are released in any case; returns the status. */
cog_status pairs_of_task(struct pair_task *task, cog_status status, struct match_list *matches,
                         cog_pairs **pairs, cog_error *error);

/* Signs rows of a side by their terms, or by their vectors if these were projected. free() the data
 * of the view, also after an error. Unless it is NULL, `margins` receives the first margins_per_row
 * margins of each row. */
cog_status pair_task_sign(const struct pair_task *task, size_t side,
                          const struct compared_rows *rows, struct signatures_view *view,
                          float *margins, size_t margins_per_row, cog_error *error);
/* Converts positions among the compared rows to row numbers. */
void pair_task_name_rows(const struct pair_task *task, struct match_list *matches);

/* Bytes of the budget that a join may take: 0 if there is no budget, 1 if nothing is left. */
uint64_t pair_task_memory_left(const struct pair_task *task);
/* Matches that fit into the rest of the memory budget (a growing list may double); 0 if there is no
 * budget. */
size_t pair_task_max_matches(const struct pair_task *task);

/* The compared rows and their true measure, for sampling. */
struct truth_rows pair_task_truth(const struct pair_task *task);
/* How candidates among the compared rows are verified. */
struct pair_check pair_task_check(const struct pair_task *task);
/* The true measure of two rows (of side 0 and of the last side). */
double pair_task_similarity(const struct pair_task *task, uint32_t a, uint32_t b);
/* The true measure, or the Jaccard coefficient that a pair with a short document is joined by. */
double pair_task_listed_similarity(const struct pair_task *task, uint32_t a, uint32_t b);

/* ---- Short documents --------------------------------------------------------------------------
 *
 * A short document has too few weighted terms for a cosine to mean anything. A pair with one is
 * measured by the Jaccard coefficient of all terms, whatever the other document is, and is found
 * exactly under every method. */

/* Marks the rows that have terms but no vector. */
cog_status short_pairs_mark(struct pair_task *task, cog_error *error);
/* Whether a pair of a marked row of `side` and a row of the other side, which is the same side
 * inside a collection, counts: each pair once, and no row with itself. Puts a match that counts
 * into order: a is the earlier row, or the row of side 0. */
bool short_pairs_take(const struct pair_task *task, size_t side, struct match *match);
/* Adds the pairs of marked rows with each other and with all other rows; the list stays sorted. */
cog_status short_pairs_join(const struct pair_task *task, struct match_list *matches,
                            cog_error *error);
/* Terms of the largest short row; 0 if there is none. */
size_t short_pairs_most_terms(const struct corpus *corpus, const uint8_t *is_short);
/* Marks the rows of a side that may match a short row of `most` terms; larger sets cannot. */
void short_pairs_mark_partners(const struct pair_task *task, size_t side, size_t most,
                               uint8_t *marks);

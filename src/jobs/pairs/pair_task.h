/* The work behind pairs and dedup: documents of one or two collections in memory, their vectors or
 * sets, and the join by the chosen method, measured where it is approximate. */
#pragma once

#include "collection/corpus.h"
#include "collection/text_signer.h"
#include "hamming/hamming.h"
#include "join/pair_check.h"
#include "plan/sampled_truth.h"

/* The rows of a side that have terms to compare, rising: the others match nothing by their vectors
 * or sets, and are neither signed nor sampled. */
struct compared_rows {
    uint32_t *numbers; /* NULL: all rows */
    size_t count;
};

/* Zero-initialise, then pair_task_init; pair_task_free releases. */
struct pair_task {
    cog_pairs_options options; /* its threshold is what the joins compare with */
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
    struct sparse_matrix vectors[2]; /* cosine */
    struct set_collection sets[2];   /* Jaccard */
    uint8_t *short_rows[2];          /* cosine: 1 where a row is too short for weights */
    const uint8_t *selected[2];      /* rows that take part; NULL: all. Borrowed. */
    struct compared_rows compared[2];
    bool projected; /* the vectors are given: documents of two languages */
    bool on_disk;   /* the terms do not fit memory */
    bool estimates; /* the matches carry estimates */
    bool has_distances;
    double announced_bytes; /* what the job said it would need */
    struct job job;         /* from init to free, on one thread */
};

cog_status pair_task_init(struct pair_task *task, const cog_pairs_options *options, size_t sides,
                          const cog_run_options *run, cog_report *report, cog_error *error);
void pair_task_free(struct pair_task *task);

/* What the documents will need. */
double pair_task_memory_bytes(const struct pair_task *task, cog_documents *const *documents);
/* Says how much memory the job will need, and refuses where the budget is less. */
cog_status pair_task_check_memory(struct pair_task *task, cog_documents *const *documents,
                                  cog_error *error);
/* What the documents, their vectors or sets and their vocabulary hold. */
uint64_t pair_task_held_bytes(const struct pair_task *task);
/* Before a method takes so much beside: says what that makes in all where it is a tenth more than
 * was said, and refuses where the budget is less. */
cog_status pair_task_take_memory(struct pair_task *task, uint64_t method_bytes, cog_error *error);
/* After the corpora are read: statistics, vectors or sets. */
cog_status pair_task_prepare(struct pair_task *task, cog_error *error);
/* After there are vectors or sets: which rows are compared. */
cog_status pair_task_list_rows(struct pair_task *task, cog_error *error);
/* Lists the rows, and then the pairs at or above the threshold, sorted; matches must be zeroed. */
cog_status pair_task_join(struct pair_task *task, struct match_list *matches, cog_error *error);

/* What stands behind cog_pairs: matches with the ids of their rows. */
struct cog_pairs {
    struct match_list matches;
    struct corpus corpora[2]; /* for the ids; empty where rows have none */
    int sides;
    bool estimates, has_distances, has_ids;
};

/* Ends a task that found `matches` with this status: on success they become pairs with the task's
 * ids. Task and matches are released in any case; returns the status. */
cog_status pairs_of_task(struct pair_task *task, cog_status status, struct match_list *matches,
                         cog_pairs **pairs, cog_error *error);

/* Signatures of some rows of a side, by their terms, or by their vectors where those were
 * projected. free() the data of the view, also after an error; sums, where not NULL, receives the
 * first sums_stride numbers behind the bits of each row. */
cog_status pair_task_sign(const struct pair_task *task, size_t side,
                          const struct compared_rows *rows, struct signatures_view *view,
                          float *sums, size_t sums_stride, cog_error *error);
/* Where matches tell places among the compared rows: their rows. */
void pair_task_name_rows(const struct pair_task *task, struct match_list *matches);

/* Bytes of the budget that a join may take: 0 if there is no budget, 1 if nothing is left. */
uint64_t pair_task_memory_left(const struct pair_task *task);
/* How many matches fit what the documents and their vectors leave of the memory budget (a growing
 * list may double); 0 where there is none. */
size_t pair_task_max_matches(const struct pair_task *task);

/* The compared rows and their true measure, for sampling. */
struct truth_rows pair_task_truth(const struct pair_task *task);
/* How candidates among the compared rows are verified. */
struct pair_check pair_task_check(const struct pair_task *task);
/* The true measure of two rows (of side 0 and of the last side). */
double pair_task_similarity(const struct pair_task *task, uint32_t a, uint32_t b);
/* The true measure, or the Jaccard coefficient that a pair with a short document is joined by. */
double pair_task_listed_similarity(const struct pair_task *task, uint32_t a, uint32_t b);

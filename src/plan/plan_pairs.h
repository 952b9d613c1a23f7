/* Pairs that a plan goes by: the true matches of some rows, others than those that measure the
 * recall afterwards. */
#pragma once

#include "plan/pair_sample.h"

/* The rows that are joined, and how their matches are found. */
struct plan_rows {
    const uint32_t *numbers; /* of the rows, rising; NULL: 0, 1... */
    size_t count;
    bool self; /* inside one collection: either row of a pair may be sampled */
    uint64_t seed;
    pair_truth *find;
    const void *context;
};

/* The matches of at most rows_max sampled rows (1 to TRUTH_ROWS_MAX); fewer rows tell as much where
 * they have very many. truth must be zeroed. */
enum { TRUTH_ROWS_MAX = 2000 };
cog_status plan_pairs_truth(const struct plan_rows *rows, size_t rows_max, struct match_list *truth,
                            cog_error *error);
/* Some of those of TRUTH_ROWS_MAX, evenly drawn and in rising order of their similarity: at most
 * PLANNED_PAIRS_MAX, and none where they are too few to plan by. *independent is how many pairs
 * they are worth: those of a row with very many are found or missed together. */
enum { PLANNED_PAIRS_MIN = 50, PLANNED_PAIRS_MAX = 1000 };
cog_status plan_pairs_draw(const struct plan_rows *rows, struct match_list *truth,
                           double *independent, cog_error *error);
/* What to plan for so that the stated recall is reached in spite of chance in so many pairs. */
double plan_pairs_demand(double recall, double independent);

/* The recall that an approximate method reached: the true matches of a sample of rows, found by the
 * exact join, against those that it listed. */
#ifndef COGNATE_JOB_PAIR_RECALL_H
#define COGNATE_JOB_PAIR_RECALL_H

#include "evaluate/pair_sample.h"
#include "job/pair_task.h"

/* The matches of at most so many other sampled rows, which may stand on either side of a pair
 * inside a collection: what a plan goes by. truth must be zeroed. */
enum { TRUTH_ROWS_MAX = 2000 };
cog_status pair_recall_truth(const struct pair_task *task, size_t rows_max,
                             struct match_list *truth, cog_error *error);
/* Some of those of TRUTH_ROWS_MAX, evenly drawn and in rising order of their measure: at most
 * PLANNED_PAIRS_MAX, and none where they are too few to plan by. *independent is how many pairs
 * they are worth: those of a row with very many are found or missed together. */
enum { PLANNED_PAIRS_MIN = 50, PLANNED_PAIRS_MAX = 1000 };
cog_status pair_recall_planned(const struct pair_task *task, struct match_list *truth,
                               double *independent, cog_error *error);
/* What to plan for so that the stated recall is reached in spite of chance in so many pairs. */
double pair_recall_demand(double recall, double independent);

/* Matches are sorted. Reports the share with its 95% interval. */
cog_status pair_recall_measure(const struct pair_task *task, const struct match_list *matches,
                               cog_error *error);

/* Its parts, where the rows are not in memory: at most so many compared rows of the first side, and
 * the report when their true matches are counted. */
void pair_recall_sample(const struct pair_task *task, size_t most, struct pair_sample *sample);
void pair_recall_report(const struct pair_task *task, const struct pair_sample *sample);

#endif

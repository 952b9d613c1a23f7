/* The recall that an approximate method reached: the true matches of a sample of rows, found by the
 * exact join, against those that it listed. */
#pragma once

#include "jobs/pairs/pair_task.h"
#include "plan/plan_pairs.h"

/* plan_pairs_truth and plan_pairs_draw of the compared rows, by the exact join. */
cog_status pair_recall_truth(const struct pair_task *task, size_t rows_max,
                             struct match_list *truth, cog_error *error);
cog_status pair_recall_planned(const struct pair_task *task, struct match_list *truth,
                               double *independent, cog_error *error);

/* Matches are sorted. Reports the share with its 95% interval. */
cog_status pair_recall_measure(const struct pair_task *task, const struct match_list *matches,
                               cog_error *error);

/* Its parts, where the rows are not in memory: at most so many compared rows of the first side, and
 * the report when their true matches are counted. */
void pair_recall_sample(const struct pair_task *task, size_t most, struct pair_sample *sample);
void pair_recall_report(const struct pair_task *task, const struct pair_sample *sample);

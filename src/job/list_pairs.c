#include "job/list_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "job/pair_recall.h"
#include "job/recall_report.h"
#include "job/report.h"
#include "match/cosine_bounds.h"
#include "match/cosine_join.h"

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The rest_cosine that keeps the wanted share of the pairs of a sample; 1 where there are too few
 * to tell. Half of what may be missed is left to chance in the sample, whose pairs are no
 * independent draws: rows have many or none. */
static cog_status plan_rest_cosine(const struct pair_task *task, double *rest_cosine,
                                   cog_error *error) {
    enum { PAIRS_MIN = 50 };
    const struct sparse_matrix *x = &task->vectors[0], *y = &task->vectors[task->sides - 1];
    struct match_list truth = {0};
    *rest_cosine = 1;
    cog_status status = pair_recall_truth(task, &truth, error);
    double *needed = memory_array(truth.count + 1, sizeof *needed);
    if (status == COG_OK && !needed)
        status = error_memory(error, truth.count * sizeof *needed, "the plan");
    for (size_t i = 0; i < truth.count && status == COG_OK; i++)
        needed[i] =
            cosine_rest_needed(x, truth.items[i].a, y, truth.items[i].b, task->options.threshold);
    if (status == COG_OK && truth.count >= PAIRS_MIN && task->options.recall < 1) {
        qsort(needed, truth.count, sizeof *needed, by_value);
        double kept = ceil((1 + task->options.recall) / 2 * (double)truth.count);
        double least = needed[(size_t)kept - 1];
        *rest_cosine = least < 1 ? least : 1;
    }
    report_number(task->report, "planned_by_pairs", (double)truth.count);
    free(needed);
    match_list_free(&truth);
    return status;
}

cog_status list_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error) {
    if (task->options.measure != COG_MEASURE_COSINE || !task->options.verify)
        return error_set(error, COG_ERR_USAGE,
                         "the method lists computes true cosines: leave out --measure jaccard and "
                         "--no-verify, or use the method flat");
    struct join_work work = {0};
    struct join_options options = {.threshold = task->options.threshold,
                                   .threads = task->threads,
                                   .work = &work,
                                   .max_matches = pair_task_max_matches(task)};
    cog_status status = plan_rest_cosine(task, &options.rest_cosine, error);
    if (status == COG_OK)
        status = task->sides == 2 ? cosine_join_cross(&task->vectors[0], &task->vectors[1],
                                                      &options, matches, error)
                                  : cosine_join_self(&task->vectors[0], &options, matches, error);
    report_number(task->report, "rest_cosine", options.rest_cosine);
    report_number(task->report, "candidates", (double)work.candidates);
    report_number(task->report, "comparisons", (double)work.verified);
    if (status != COG_OK || options.rest_cosine < 1)
        return status == COG_OK ? pair_recall_measure(task, matches, error) : status;
    report_exact(task->report);
    return COG_OK;
}

/* Measured on 388 million pairs of documents with 575 terms on both sides together: the exact join
 * takes 9 ns a pair. */
bool list_pairs_pay(const struct pair_task *task) {
    const double term_ns = 9.0 / 575, worth_ns = 1e9;
    double pairs = 1, terms = 0;
    for (size_t side = 0; side < 2; side++) {
        const struct sparse_matrix *vectors = &task->vectors[side < task->sides ? side : 0];
        pairs *= (double)vectors->rows;
        terms += (double)vectors->offsets[vectors->rows] / (double)(vectors->rows + 1);
    }
    return pairs * terms * term_ns / (task->sides == 1 ? 2 : 1) > worth_ns;
}

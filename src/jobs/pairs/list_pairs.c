#include "jobs/pairs/list_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/cosine_join.h"
#include "run/report.h"

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* What the pairs of a sample need for the wanted recall. Half of what may be missed is left to
 * chance in the sample, whose pairs are no independent draws: rows have many or none. */
static cog_status tails_of_pairs(const struct pair_task *task, const struct match_list *pairs,
                                 struct cosine_tails *tails, cog_error *error) {
    const struct sparse_matrix *x = &task->vectors[0], *y = &task->vectors[task->sides - 1];
    struct cosine_cuts cuts;
    cog_status status = cosine_cuts_find(x, y, &cuts, error);
    double *needed = memory_array(pairs->count, COSINE_TAILS * sizeof *needed);
    if (status == COG_OK && !needed)
        status = error_memory(error, pairs->count * COSINE_TAILS * sizeof *needed, "the plan");
    for (size_t i = 0; i < pairs->count && status == COG_OK; i++) {
        struct cosine_tails of_pair;
        cosine_tails_needed(x, pairs->items[i].a, y, pairs->items[i].b, task->options.threshold,
                            &cuts, &of_pair);
        for (size_t tail = 0; tail < COSINE_TAILS; tail++)
            needed[tail * pairs->count + i] = of_pair.cosines[tail];
    }
    size_t kept = (size_t)ceil((1 + task->options.recall) / 2 * (double)pairs->count);
    for (size_t tail = 0; tail < COSINE_TAILS && status == COG_OK; tail++) {
        double *values = needed + tail * pairs->count;
        qsort(values, pairs->count, sizeof *values, by_value);
        tails->cosines[tail] = values[kept - 1];
    }
    free(needed);
    return status;
}

/* *planned stays false where the sample has too few pairs to tell. */
static cog_status plan_tails(const struct pair_task *task, struct cosine_tails *tails,
                             bool *planned, cog_error *error) {
    enum { PLAN_ROWS = 500, PAIRS_MIN = 50 };
    struct match_list truth = {0};
    const struct truth_rows rows = pair_task_truth(task);
    cog_status status = COG_OK;
    if (task->options.recall < 1)
        status = truth_of_rows(&rows, PLAN_ROWS, &truth, error);
    *planned = status == COG_OK && truth.count >= PAIRS_MIN;
    if (*planned)
        status = tails_of_pairs(task, &truth, tails, error);
    report_number(task->report, "planned_by_pairs", (double)truth.count);
    match_list_free(&truth);
    return status;
}

cog_status list_pairs_check(const cog_pairs_options *options, cog_error *error) {
    if (options->measure != COG_MEASURE_COSINE || !options->verify)
        return error_set(error, COG_ERR_USAGE,
                         "the method lists computes true cosines: leave out --measure jaccard and "
                         "--no-verify, or use the method flat");
    return COG_OK;
}

cog_status list_pairs_find(struct pair_task *task, struct match_list *matches, bool *exact,
                           cog_error *error) {
    struct join_work work = {0};
    struct cosine_tails tails;
    struct join_options options = {.threshold = task->options.threshold,
                                   .threads = task->threads,
                                   .work = &work,
                                   .max_matches = pair_task_max_matches(task)};
    bool planned;
    cog_status status = plan_tails(task, &tails, &planned, error);
    options.tails = planned ? &tails : NULL;
    THEN(status, cosine_join(&task->vectors[0], task->sides == 2 ? &task->vectors[1] : NULL,
                             &options, matches, error));
    report_number(task->report, "candidates", (double)work.candidates);
    report_number(task->report, "comparisons", (double)work.verified);
    *exact = !planned;
    return status;
}

cog_status list_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error) {
    bool exact;
    cog_status status = list_pairs_find(task, matches, &exact, error);
    if (status == COG_OK && exact)
        report_exact(task->report);
    else if (status == COG_OK)
        status = pair_task_measure(task, matches, error);
    return status;
}

bool list_pairs_pay(const struct sparse_matrix vectors[2], double exact_term_ns) {
    const double worth_ns = 1e9;
    double pairs = 1, terms = 0;
    for (size_t side = 0; side < 2; side++) {
        size_t rows = vectors[side].rows;
        pairs *= (double)rows;
        terms += (double)vectors[side].offsets[rows] / (double)(rows + 1);
    }
    return pairs * terms * exact_term_ns > worth_ns;
}

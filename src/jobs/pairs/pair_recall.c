#include "jobs/pairs/pair_recall.h"

#include "join/cosine_join.h"
#include "join/jaccard_join.h"
#include "plan/recall_report.h"
#include "plan/recall_sample.h"

/* The true matches of some rows with all others, by the exact join. */
static cog_status find_truth(const void *context, const uint32_t *rows, size_t count,
                             struct match_list *truth, cog_error *error) {
    const struct pair_task *task = context;
    struct join_options options = {.threshold = task->options.threshold,
                                   .threads = task->threads,
                                   .max_matches = truth->limit};
    size_t other = task->sides - 1;
    struct sparse_matrix vectors = {0};
    struct set_collection sets = {0};
    cog_status status;
    if (task->options.measure == COG_MEASURE_COSINE)
        status = sparse_matrix_select(&task->vectors[0], rows, count, &vectors)
                     ? cosine_join_cross(&vectors, &task->vectors[other], &options, truth, error)
                     : error_memory(error, count, "the recall sample");
    else
        status = set_collection_select(&task->sets[0], rows, count, &sets)
                     ? jaccard_join_cross(&sets, &task->sets[other], &options, truth, error)
                     : error_memory(error, count, "the recall sample");
    sparse_matrix_free(&vectors);
    set_collection_free(&sets);
    return status;
}

static struct plan_rows planned_rows(const struct pair_task *task) {
    return (struct plan_rows){.numbers = task->compared[0].numbers,
                              .count = task->compared[0].count,
                              .self = task->sides == 1,
                              .seed = task->options.sign.signature.seed,
                              .find = find_truth,
                              .context = task};
}

cog_status pair_recall_truth(const struct pair_task *task, size_t rows_max,
                             struct match_list *truth, cog_error *error) {
    const struct plan_rows rows = planned_rows(task);
    return plan_pairs_truth(&rows, rows_max, truth, error);
}

cog_status pair_recall_planned(const struct pair_task *task, struct match_list *truth,
                               double *independent, cog_error *error) {
    const struct plan_rows rows = planned_rows(task);
    return plan_pairs_draw(&rows, truth, independent, error);
}

void pair_recall_sample(const struct pair_task *task, size_t most, struct pair_sample *sample) {
    *sample = (struct pair_sample){.self = task->sides == 1};
    const struct compared_rows *compared = &task->compared[0];
    sample->count =
        recall_sample_rows(compared->count, most, task->options.sign.signature.seed, sample->rows);
    for (size_t i = 0; i < sample->count; i++)
        sample->rows[i] = compared->numbers[sample->rows[i]];
}

void pair_recall_report(const struct pair_task *task, const struct pair_sample *sample) {
    struct share_tally tally = pair_sample_tally(sample);
    report_pair_recall(task->report, &tally, sample->count, task->options.recall, "exact");
}

cog_status pair_recall_measure(const struct pair_task *task, const struct match_list *matches,
                               cog_error *error) {
    struct pair_sample sample;
    pair_recall_sample(task, RECALL_ROWS, &sample);
    cog_status status = pair_sample_measure(&sample, find_truth, task,
                                            task->corpora[task->sides - 1].rows, matches, error);
    if (status == COG_OK)
        pair_recall_report(task, &sample);
    return status;
}

#include "job/pair_recall.h"

#include <math.h>
#include <stdlib.h>

#include "evaluate/interval.h"
#include "evaluate/recall_sample.h"
#include "job/recall_report.h"
#include "match/cosine_join.h"
#include "match/jaccard_join.h"

enum { PLAN_ROWS = 500 };

/* The true matches of the sampled rows with all others, by the exact join. */
static cog_status find_truth(const struct pair_task *task, const uint32_t *sample, size_t rows,
                             struct match_list *truth, cog_error *error) {
    struct join_options options = {.threshold = task->options.threshold, .threads = task->threads};
    size_t other = task->sides - 1;
    struct sparse_matrix vectors = {0};
    struct set_collection sets = {0};
    cog_status status;
    if (task->options.measure == COG_MEASURE_COSINE)
        status = sparse_matrix_select(&task->vectors[0], sample, rows, &vectors)
                     ? cosine_join_cross(&vectors, &task->vectors[other], &options, truth, error)
                     : error_memory(error, rows, "the recall sample");
    else
        status = set_collection_select(&task->sets[0], sample, rows, &sets)
                     ? jaccard_join_cross(&sets, &task->sets[other], &options, truth, error)
                     : error_memory(error, rows, "the recall sample");
    sparse_matrix_free(&vectors);
    set_collection_free(&sets);
    return status;
}

cog_status pair_recall_truth(const struct pair_task *task, struct match_list *truth,
                             cog_error *error) {
    uint32_t sample[PLAN_ROWS];
    size_t rows = recall_sample_rows(task->corpora[0].rows, PLAN_ROWS,
                                     task->options.sign.signature.seed + 1, sample);
    cog_status status = find_truth(task, sample, rows, truth, error);
    size_t kept = 0;
    for (size_t i = 0; i < truth->count; i++) {
        truth->items[i].a = sample[truth->items[i].a];
        if (task->sides == 2 || truth->items[i].a != truth->items[i].b)
            truth->items[kept++] = truth->items[i];
    }
    truth->count = kept;
    return status;
}

static int by_similarity(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    if (p->similarity != q->similarity)
        return p->similarity < q->similarity ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

cog_status pair_recall_planned(const struct pair_task *task, struct match_list *truth,
                               cog_error *error) {
    cog_status status = pair_recall_truth(task, truth, error);
    size_t step = truth->count / PLANNED_PAIRS_MAX + 1, kept = 0;
    for (size_t i = 0; i < truth->count; i += step)
        truth->items[kept++] = truth->items[i];
    truth->count = kept < PLANNED_PAIRS_MIN ? 0 : kept;
    if (truth->count)
        qsort(truth->items, truth->count, sizeof *truth->items, by_similarity);
    return status;
}

double pair_recall_demand(double recall, size_t pairs) {
    recall += 0.01 + sqrt(recall * (1 - recall) / (double)(pairs + PLANNED_PAIRS_MIN));
    return recall < 0.995 ? recall : 0.995;
}

size_t pair_recall_sample(const struct pair_task *task, size_t most, uint32_t *sample) {
    return recall_sample_rows(task->corpora[0].rows, most, task->options.sign.signature.seed,
                              sample);
}

void pair_recall_report(const struct pair_task *task, const struct match_list *matches,
                        const uint32_t *sample, size_t rows, const struct match_list *truth) {
    uint64_t hits = 0, trials = 0;
    for (size_t i = 0; i < truth->count; i++) {
        uint32_t a = sample[truth->items[i].a], b = truth->items[i].b;
        bool swap = task->sides == 1 && b < a;
        if (task->sides == 1 && (a == b || (swap && recall_sample_holds(sample, rows, b))))
            continue; /* a pair of two sampled rows counts from its earlier one */
        trials++;
        hits += match_list_holds(matches, swap ? b : a, swap ? a : b);
    }
    report_recall(task->report, hits, trials, rows, "pairs", "rows");
    if (trials && measured_share(hits, trials).high < task->options.recall)
        report_notice(task->report,
                      "that is less than the %g of --recall; a greater one, more tables or "
                      "--method exact find more",
                      task->options.recall);
}

cog_status pair_recall_measure(const struct pair_task *task, const struct match_list *matches,
                               cog_error *error) {
    uint32_t sample[RECALL_ROWS];
    struct match_list truth = {0};
    size_t rows = pair_recall_sample(task, RECALL_ROWS, sample);
    cog_status status = find_truth(task, sample, rows, &truth, error);
    if (status == COG_OK)
        pair_recall_report(task, matches, sample, rows, &truth);
    match_list_free(&truth);
    return status;
}

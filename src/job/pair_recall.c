#include "job/pair_recall.h"

#include <math.h>
#include <stdlib.h>

#include "evaluate/recall_sample.h"
#include "job/recall_report.h"
#include "match/cosine_join.h"
#include "match/jaccard_join.h"

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

static size_t sample_compared(const struct pair_task *task, size_t most, uint64_t seed,
                              uint32_t *sample) {
    const struct compared_rows *compared = &task->compared[0];
    size_t count = recall_sample_rows(compared->count, most, seed, sample);
    for (size_t i = 0; i < count; i++)
        sample[i] = compared->numbers[sample[i]];
    return count;
}

cog_status pair_recall_truth(const struct pair_task *task, size_t rows_max,
                             struct match_list *truth, cog_error *error) {
    enum { TRUTH_MAX = 1 << 20 };
    uint32_t sample[TRUTH_ROWS_MAX];
    size_t rows, most = rows_max, kept = 0;
    cog_status status;
    do { /* fewer rows tell as much where they have that many matches */
        rows = sample_compared(task, most, task->options.sign.signature.seed + 1, sample);
        match_list_free(truth);
        truth->limit = most > 1 ? TRUTH_MAX : 0;
        status = find_truth(task, sample, rows, truth, error);
        most /= 2;
    } while (status == COG_ERR_MEMORY && most > 0);
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

/* How many pairs of a row each these are worth (Kish's effective size): matches stand by row. */
static double independent_pairs(const struct match_list *truth) {
    double squares = 0, of_row = 0;
    for (size_t i = 0; i < truth->count; i++) {
        of_row = i > 0 && truth->items[i].a == truth->items[i - 1].a ? of_row + 1 : 1;
        squares += 2 * of_row - 1;
    }
    return squares > 0 ? (double)truth->count * (double)truth->count / squares : 0;
}

cog_status pair_recall_planned(const struct pair_task *task, struct match_list *truth,
                               double *independent, cog_error *error) {
    cog_status status = pair_recall_truth(task, TRUTH_ROWS_MAX, truth, error);
    size_t step = truth->count / PLANNED_PAIRS_MAX + 1, kept = 0;
    *independent = independent_pairs(truth);
    for (size_t i = 0; i < truth->count; i += step)
        truth->items[kept++] = truth->items[i];
    truth->count = kept < PLANNED_PAIRS_MIN ? 0 : kept;
    *independent = *independent < (double)truth->count ? *independent : (double)truth->count;
    if (truth->count)
        qsort(truth->items, truth->count, sizeof *truth->items, by_similarity);
    return status;
}

double pair_recall_demand(double recall, double independent) {
    recall += 0.01 + sqrt(recall * (1 - recall) / (independent + PLANNED_PAIRS_MIN));
    return recall < 0.995 ? recall : 0.995;
}

void pair_recall_sample(const struct pair_task *task, size_t most, struct pair_sample *sample) {
    *sample = (struct pair_sample){.self = task->sides == 1};
    sample->count = sample_compared(task, most, task->options.sign.signature.seed, sample->rows);
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

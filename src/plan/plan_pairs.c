#include "plan/plan_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "plan/recall_sample.h"

static size_t sample_rows(const struct plan_rows *rows, size_t most, uint32_t *sample) {
    size_t count = recall_sample_rows(rows->count, most, rows->seed + 1, sample);
    for (size_t i = 0; i < count && rows->numbers; i++)
        sample[i] = rows->numbers[sample[i]];
    return count;
}

cog_status plan_pairs_truth(const struct plan_rows *rows, size_t rows_max, struct match_list *truth,
                            cog_error *error) {
    enum { TRUTH_MAX = 1 << 20 };
    uint32_t sample[TRUTH_ROWS_MAX];
    size_t most = rows_max, kept = 0;
    cog_status status;
    do {
        size_t count = sample_rows(rows, most, sample);
        match_list_free(truth);
        truth->limit = most > 1 ? TRUTH_MAX : 0;
        status = rows->find(rows->context, sample, count, truth, error);
        most /= 2;
    } while (status == COG_ERR_MEMORY && most > 0);
    for (size_t i = 0; i < truth->count; i++) {
        truth->items[i].a = sample[truth->items[i].a];
        if (!rows->self || truth->items[i].a != truth->items[i].b)
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

cog_status plan_pairs_draw(const struct plan_rows *rows, struct match_list *truth,
                           double *independent, cog_error *error) {
    cog_status status = plan_pairs_truth(rows, TRUTH_ROWS_MAX, truth, error);
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

double plan_pairs_demand(double recall, double independent) {
    recall += 0.01 + sqrt(recall * (1 - recall) / (independent + PLANNED_PAIRS_MIN));
    return recall < 0.995 ? recall : 0.995;
}

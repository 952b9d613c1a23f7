#include "plan/sampled_truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "join/cosine/cosine_join.h"
#include "join/join.h"
#include "search/flat/flat_join.h"

enum { TRUTH_AT_ONCE = 1 << 20 }; /* matches: 16 MB */

/* ---- Drawing rows ---------------------------------------------------------------------------- */

size_t sample_rows(size_t rows, size_t most, uint64_t seed, uint32_t *sample) {
    if (rows <= most) {
        for (size_t i = 0; i < rows; i++)
            sample[i] = (uint32_t)i;
        return rows;
    }
    if (most == 0)
        return 0;
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < most; i++)
        sample[i] = (uint32_t)random_below(&random, rows);
    qsort(sample, most, sizeof *sample, compare_u32);
    size_t distinct = 1;
    for (size_t i = 1; i < most; i++)
        if (sample[i] != sample[distinct - 1])
            sample[distinct++] = sample[i];
    return distinct;
}

cog_status sample_signatures(const struct signatures_view *view, const uint32_t *rows, size_t count,
                             struct signatures_view *copy, cog_error *error) {
    uint8_t *data;
    TAKE(data, count * view->stride_bytes, "a sample of signatures", error);
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * view->stride_bytes, signature_row(view, rows[i]), view->stride_bytes);
    *copy = (struct signatures_view){data, count, view->bits, view->stride_bytes};
    return COG_OK;
}

static size_t draw(const struct truth_rows *rows, size_t most, uint64_t seed, uint32_t *sample) {
    size_t count = sample_rows(rows->count, most, seed, sample);
    for (size_t i = 0; i < count && rows->numbers; i++)
        sample[i] = rows->numbers[sample[i]];
    return count;
}

/* ---- True pairs ------------------------------------------------------------------------------ */

static bool is_itself(const struct truth_rows *rows, uint32_t a, uint32_t b) {
    return (rows->self || rows->same_rows) && a == b;
}

cog_status truth_find(const struct truth_rows *rows, const uint32_t *sample, size_t count,
                      struct match_list *truth, cog_error *error) {
    const struct join_options options = {
        .threshold = rows->threshold, .threads = rows->threads, .max_matches = truth->limit};
    struct sparse_matrix vectors = {0};
    struct signatures_view signatures = {0};
    cog_status status = COG_OK;
    if (rows->find)
        return rows->find(rows->context, sample, count, truth, error);
    if (rows->vectors[0])
        status = sparse_matrix_select(rows->vectors[0], sample, count, &vectors)
                     ? cosine_join(&vectors, rows->vectors[1], &options, truth, error)
                     : error_memory(error, count, "a sample of vectors");
    else
        status = sample_signatures(rows->signatures[0], sample, count, &signatures, error);
    if (signatures.data)
        status = flat_join(&signatures, rows->signatures[1], rows->radius_bits, rows->threads,
                           truth, NULL, error);
    for (size_t i = 0; i < truth->count && status == COG_OK; i++)
        truth->items[i].b += (uint32_t)rows->first_row;
    sparse_matrix_free(&vectors);
    free((void *)signatures.data);
    return status;
}

cog_status truth_of_rows(const struct truth_rows *rows, size_t rows_max, struct match_list *truth,
                         cog_error *error) {
    uint32_t sample[TRUTH_ROWS_MAX];
    size_t most = rows_max, kept = 0;
    cog_status status;
    do {
        size_t count = draw(rows, most, rows->seed + 1, sample);
        match_list_free(truth);
        truth->limit = most > 1 ? TRUTH_AT_ONCE : 0;
        status = truth_find(rows, sample, count, truth, error);
        most /= 2;
    } while (status == COG_ERR_MEMORY && most > 0);
    for (size_t i = 0; i < truth->count; i++) {
        truth->items[i].a = sample[truth->items[i].a];
        if (!is_itself(rows, truth->items[i].a, truth->items[i].b))
            truth->items[kept++] = truth->items[i];
    }
    truth->count = kept;
    return status;
}

static int by_similarity(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    return p->similarity != q->similarity ? ORDER(p->similarity, q->similarity)
           : p->a != q->a                 ? ORDER(p->a, q->a)
                                          : ORDER(p->b, q->b);
}

/* Kish's effective sample size, with the pairs of a row as a cluster; matches are in order of rows.
 */
static double independent_pairs(const struct match_list *truth) {
    double squares = 0, of_row = 0;
    for (size_t i = 0; i < truth->count; i++) {
        of_row = i > 0 && truth->items[i].a == truth->items[i - 1].a ? of_row + 1 : 1;
        squares += 2 * of_row - 1;
    }
    return squares > 0 ? (double)truth->count * (double)truth->count / squares : 0;
}

cog_status truth_to_plan_by(const struct truth_rows *rows, struct match_list *truth,
                            double *independent, cog_error *error) {
    cog_status status = truth_of_rows(rows, TRUTH_ROWS_MAX, truth, error);
    size_t step = truth->count / PLANNED_PAIRS_MAX + 1, kept = 0;
    *independent = independent_pairs(truth);
    for (size_t i = 0; i < truth->count; i += step)
        truth->items[kept++] = truth->items[i];
    truth->count = kept < PLANNED_PAIRS_MIN ? 0 : kept;
    *independent = fmin(*independent, (double)truth->count);
    if (truth->count)
        qsort(truth->items, truth->count, sizeof *truth->items, by_similarity);
    return status;
}

/* ---- Measured recall ------------------------------------------------------------------------- */

void recall_sample_draw(struct recall_sample *sample, const struct truth_rows *rows, size_t most) {
    *sample = (struct recall_sample){0};
    sample->count = draw(rows, most, rows->seed, sample->rows);
}

/* Counts true matches; their `a` is a position in the sample. */
static void count_truth(struct recall_sample *sample, const struct truth_rows *rows,
                        const struct match_list *truth, const struct match_list *matches) {
    for (size_t i = 0; i < truth->count; i++) {
        size_t place = truth->items[i].a;
        uint32_t a = sample->rows[place], b = truth->items[i].b;
        bool swap = rows->self && b < a;
        if (is_itself(rows, a, b))
            continue;
        /* A pair of two sampled rows is counted once, at its earlier row. */
        if (swap && bsearch(&b, sample->rows, sample->count, sizeof b, compare_u32))
            continue;
        sample->trials[place]++;
        sample->hits[place] += match_list_holds(matches, swap ? b : a, swap ? a : b);
    }
}

/* Counts the sampled rows [first, first + count), split in halves if they have too many matches. */
static cog_status count_part(struct recall_sample *sample, const struct truth_rows *rows,
                             size_t limit, size_t first, size_t count,
                             const struct match_list *matches, cog_error *error) {
    struct match_list truth = {.limit = limit};
    cog_status status = truth_find(rows, sample->rows + first, count, &truth, error);
    if (status == COG_OK) {
        for (size_t i = 0; i < truth.count; i++)
            truth.items[i].a += (uint32_t)first;
        count_truth(sample, rows, &truth, matches);
    }
    if (truth.count > sample->most_at_once)
        sample->most_at_once = truth.count;
    match_list_free(&truth);
    if (status != COG_ERR_MEMORY || count < 2)
        return status;
    TRY(count_part(sample, rows, limit, first, count / 2, matches, error));
    return count_part(sample, rows, limit, first + count / 2, count - count / 2, matches, error);
}

cog_status recall_sample_count(struct recall_sample *sample, const struct truth_rows *rows,
                               const struct match_list *matches, cog_error *error) {
    size_t most_of_row = rows->find         ? rows->side_rows
                         : rows->vectors[1] ? rows->vectors[1]->rows
                                            : rows->signatures[1]->rows;
    size_t limit = most_of_row > TRUTH_AT_ONCE ? most_of_row : TRUTH_AT_ONCE;
    return sample->count ? count_part(sample, rows, limit, 0, sample->count, matches, error)
                         : COG_OK;
}

/* Reports the recall, with a notice if it is less than `wanted` that names the exact method. */
static void recall_sample_report(const struct recall_sample *sample, double wanted,
                                 const char *exact_method, cog_report *report) {
    struct share_tally tally = {0};
    for (size_t i = 0; i < sample->count; i++)
        share_tally_add(&tally, sample->hits[i], sample->trials[i]);
    report_recall(report, &tally, sample->count, (struct noun){"pair", "pairs"},
                  (struct noun){"row", "rows"});
    if (tally.trials && measured_share(&tally).high < wanted)
        report_notice(
            report,
            "this is below the requested recall of %g; a higher value finds more, and the "
            "method %s finds all",
            wanted, exact_method);
}

cog_status recall_measure(const struct truth_rows *rows, const struct match_list *matches,
                          double wanted, const char *exact_method, cog_report *report,
                          cog_error *error) {
    struct recall_sample sample;
    recall_sample_draw(&sample, rows, RECALL_ROWS);
    TRY(recall_sample_count(&sample, rows, matches, error));
    recall_sample_report(&sample, wanted, exact_method, report);
    return COG_OK;
}

void recall_count_nearest(const struct match *truth, size_t truth_count, const struct match *found,
                          size_t found_count, enum recall_key key, struct share_tally *tally) {
    if (truth_count == 0)
        return;
    const struct match *last = &truth[truth_count - 1];
    size_t good = 0;
    for (size_t i = 0; i < found_count && good < truth_count; i++)
        good += key == RECALL_BY_DISTANCE ? found[i].distance <= last->distance
                                          : found[i].similarity >= last->similarity;
    share_tally_add(tally, good, truth_count);
}

void report_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                   struct noun things, struct noun units) {
    struct measured_share recall = measured_share(tally);
    char name[64];
    snprintf(name, sizeof name, "recall_sample_%s", units.many);
    report_number(report, name, (double)sample_size);
    snprintf(name, sizeof name, "recall_sample_%s", things.many);
    report_number(report, name, (double)tally->trials);
    if (tally->trials == 0) {
        report_notice(report, "recall is not known: no true %s of %zu sampled %s", things.many,
                      sample_size, plural(sample_size, units.one, units.many));
        return;
    }
    report_number(report, "measured_recall", recall.share);
    report_number(report, "measured_recall_low", recall.low);
    report_number(report, "measured_recall_high", recall.high);
    report_notice(report, "recall %.3f (95%%: %.3f to %.3f, %llu true %s of %zu sampled %s)",
                  recall.share, recall.low, recall.high, (unsigned long long)tally->trials,
                  plural(tally->trials, things.one, things.many), sample_size,
                  plural(sample_size, units.one, units.many));
}

void report_exact(cog_report *report) {
    report_text(report, "recall", "certified exact");
}

/* Related queries of a query log (Distributed LSH): vectors over clicked URLs weighted by clicks.
 * The click rate of the paper is clicks over the query's total, which cancels in the cosine. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/strings.h"
#include "jobs/pairs/pair_task.h"
#include "jobs/pairs/pairs_handle.h"
#include "run/report.h"

enum { DEFAULT_MIN_URLS = 6 };

void cog_related_options_init(cog_related_options *options) {
    cog_pairs_options_init(&options->pairs, COG_MEASURE_COSINE);
    options->pairs.threshold = 0.7;
    cog_weight_options_init(&options->pairs.sign.weights, COG_WEIGHTING_TF);
    options->min_urls = DEFAULT_MIN_URLS;
    /* With random signs the sums of a few equal clicks take a few values, zero above all, and bits
     * agree otherwise than the cosine says. */
    options->pairs.sign.signature.gaussian = true;
}

/* Queries with enough distinct URLs take part. */
static cog_status select_queries(struct pair_task *task, unsigned min_urls, uint8_t **selected,
                                 cog_error *error) {
    const struct corpus *corpus = &task->corpora[0];
    size_t left_out = 0;
    *selected = memory_array(corpus->rows, 1);
    if (!*selected)
        return error_memory(error, corpus->rows, "queries");
    for (size_t row = 0; row < corpus->rows; row++) {
        (*selected)[row] = corpus->items[row].term_count >= min_urls;
        left_out += !(*selected)[row];
    }
    task->selected[0] = *selected;
    report_number(task->report, "queries", (double)(corpus->rows - left_out));
    report_number(task->report, "left_out_queries", (double)left_out);
    if (left_out)
        report_notice(task->report, "%zu of %zu %s %s fewer than %u clicked URL%s and %s left out",
                      left_out, corpus->rows, plural(corpus->rows, "query", "queries"),
                      plural(left_out, "has", "have"), min_urls, plural(min_urls, "", "s"),
                      plural(left_out, "is", "are"));
    return COG_OK;
}

static cog_status run_task(struct pair_task *task, cog_documents *documents, unsigned min_urls,
                           struct match_list *matches, cog_error *error) {
    struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    uint8_t *selected = NULL;
    cog_status status = pair_task_check_memory(task, &documents, error);
    THEN(status,
         corpus_read(&task->corpora[0], documents, &reading, task->run, task->report, error));
    THEN(status, select_queries(task, min_urls, &selected, error));
    task->short_terms = 0;
    THEN(status, pair_task_prepare(task, error));
    THEN(status, pair_task_join(task, matches, error));
    free(selected);
    task->selected[0] = NULL;
    return status;
}

cog_status cog_related_find(cog_documents *documents, const cog_related_options *options,
                            const cog_run_options *run, cog_pairs **result, cog_report *report,
                            cog_error *error) {
    struct pair_task task = {0};
    struct match_list matches = {0};
    cog_status status = pair_task_init(&task, &options->pairs, 1, run, report, error);
    THEN(status, run_task(&task, documents, options->min_urls, &matches, error));
    return pairs_of_task(&task, status, &matches, result, error);
}

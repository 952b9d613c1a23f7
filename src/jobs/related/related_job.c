/* Related queries of a log: the public functions.
 *
 * Vectors over clicked URLs, weighted by clicks (Distributed LSH). The click rate of the paper is
 * clicks divided by the query's total, which cancels in the cosine. Given queries are compared with
 * all others, as in the paper's evaluation: the log is then joined with itself as two collections,
 * the first with only the given rows. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/strings.h"
#include "collection/id_list.h"
#include "collection/options.h"
#include "jobs/pairs/pair_join.h"
#include "jobs/pairs/set_pairs.h"

enum { DEFAULT_MIN_URLS = 6 };

void cog_related_options_init(cog_related_options *options) {
    *options = (cog_related_options){.min_urls = DEFAULT_MIN_URLS};
    cog_pairs_options_init(&options->pairs, COG_MEASURE_COSINE);
    options->pairs.threshold = 0.7;
    cog_weight_options_init(&options->pairs.sign.weights, COG_WEIGHTING_TF);
    /* With random signs, the sums of a few equal clicks have only a few values, often zero, and
     * bits agree more or less often than the cosine predicts. */
    options->pairs.sign.signature.gaussian = true;
}

/* ---- Rows that take part --------------------------------------------------------------------- */

/* 1 for the rows of the log to compare, and 1 for the given rows among them. */
struct selection {
    uint8_t *all, *given;
};

static void selection_free(struct selection *selection) {
    free(selection->all);
    free(selection->given);
}

/* Selects queries with enough distinct URLs. */
static cog_status select_queries(struct pair_task *task, unsigned min_urls,
                                 struct selection *selection, cog_error *error) {
    const struct corpus *corpus = &task->corpora[0];
    size_t left_out = 0;
    TAKE_ZEROED(selection->all, corpus->rows + 1, "queries", error);
    for (size_t row = 0; row < corpus->rows; row++) {
        selection->all[row] = corpus->items[row].term_count >= min_urls;
        left_out += !selection->all[row];
    }
    report_number(task->report, "queries", (double)(corpus->rows - left_out));
    report_number(task->report, "left_out_queries", (double)left_out);
    if (left_out)
        report_notice(task->report, "%zu of %zu %s %s fewer than %u clicked URL%s and %s left out",
                      left_out, corpus->rows, plural(corpus->rows, "query", "queries"),
                      plural(left_out, "has", "have"), min_urls, plural(min_urls, "", "s"),
                      plural(left_out, "is", "are"));
    return COG_OK;
}

struct given_tally {
    size_t given, unknown, left_out;
};

static void report_given(const struct pair_task *task, const struct given_tally *tally,
                         struct bytes_view example) {
    report_number(task->report, "given_queries", (double)tally->given);
    report_number(task->report, "unknown_queries", (double)tally->unknown);
    if (tally->unknown)
        report_notice(task->report, "the log does not have %zu of %zu given %s, such as '%.*s'",
                      tally->unknown, tally->given, plural(tally->given, "query", "queries"),
                      (int)(example.size < 60 ? example.size : 60), example.data);
    if (tally->left_out)
        report_notice(task->report, "%zu of the given queries %s too few clicked URLs",
                      tally->left_out, plural(tally->left_out, "has", "have"));
}

static cog_status select_given(struct pair_task *task, const struct bytes_view *ids, size_t count,
                               struct selection *selection, cog_error *error) {
    const struct corpus *corpus = &task->corpora[0];
    struct given_tally tally = {.given = count};
    struct bytes_view example = {0};
    uint32_t row;
    TAKE_ZEROED(selection->given, corpus->rows + 1, "queries", error);
    for (size_t i = 0; i < count; i++) {
        if (!corpus_find(corpus, ids[i], &row)) {
            example = tally.unknown++ ? example : ids[i];
            continue;
        }
        tally.left_out += !selection->all[row];
        selection->given[row] = selection->all[row];
    }
    report_given(task, &tally, example);
    return COG_OK;
}

static cog_status take_given(struct pair_task *task, const cog_related_options *options,
                             struct selection *selection, cog_error *error) {
    struct id_list list = {0};
    struct bytes_view *views = NULL;
    cog_status status = COG_OK;
    if (options->queries_file) {
        status = id_list_read(&list, options->queries_file, error);
        THEN(status, select_given(task, list.ids, list.count, selection, error));
    } else {
        TAKE(views, options->query_count + 1, "queries", error);
        for (size_t i = 0; i < options->query_count; i++)
            views[i] = view_of_text(options->queries[i]);
        status = select_given(task, views, options->query_count, selection, error);
    }
    id_list_free(&list);
    free(views);
    return status;
}

/* ---- The join -------------------------------------------------------------------------------- */

static bool has_given(const cog_related_options *options) {
    return options->queries || options->queries_file;
}

/* Drops the match of a given row with itself. */
static void drop_itself(struct match_list *matches) {
    size_t kept = 0;
    for (size_t i = 0; i < matches->count; i++)
        if (matches->items[i].a != matches->items[i].b)
            matches->items[kept++] = matches->items[i];
    matches->count = kept;
}

/* Joins the given rows with all rows of the log. */
static cog_status join_given(struct pair_task *task, const struct selection *selection,
                             struct match_list *matches, cog_error *error) {
    task->sides = 2;
    task->same_corpus = true;
    task->corpora[1] = task->corpora[0];
    task->selected[0] = selection->given;
    task->selected[1] = selection->all;
    cog_status status = pair_task_prepare(task, error);
    THEN(status, pair_join_run(task, matches, error));
    drop_itself(matches);
    report_number(task->report, "matches", (double)matches->count);
    task->corpora[1] = (struct corpus){0};
    task->sides = 1;
    return status;
}

static cog_status join_all(struct pair_task *task, const struct selection *selection,
                           struct match_list *matches, cog_error *error) {
    task->selected[0] = selection->all;
    TRY(pair_task_prepare(task, error));
    return pair_join_run(task, matches, error);
}

static cog_status find_by_vectors(struct pair_task *task, cog_documents *documents,
                                  const cog_related_options *options, struct selection *selection,
                                  struct match_list *matches, cog_error *error) {
    const struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    TRY(pair_task_check_memory(task, &documents, error));
    TRY(corpus_read(&task->corpora[0], documents, &reading, task->run, task->report, error));
    TRY(select_queries(task, options->min_urls, selection, error));
    if (!has_given(options))
        return join_all(task, selection, matches, error);
    TRY(take_given(task, options, selection, error));
    return join_given(task, selection, matches, error);
}

static cog_status find_by_sets(struct pair_task *task, cog_documents *documents,
                               const cog_related_options *options, struct selection *selection,
                               struct match_list *matches, cog_error *error) {
    struct document_sets sets = {0};
    cog_status status = set_pairs_read(task, &documents, &sets, error);
    THEN(status, select_queries(task, options->min_urls, selection, error));
    task->selected[0] = selection->all;
    THEN(status, set_pairs_join(task, &sets, matches, error));
    document_sets_close(&sets);
    return status;
}

static cog_status check_options(const cog_related_options *options, cog_error *error) {
    TRY(options_check_reserved(options->reserved, 1, "related", error));
    TRY(check_enum(options->pairs.measure, COG_MEASURE_CONTAINMENT + 1, "measure", error));
    if (has_given(options) && pairs_are_by_sets(&options->pairs))
        return error_about(error, COG_ERR_USAGE, "measure",
                           "neighbours of given queries are found by the cosine of clicks: use "
                           "the measure cosine");
    return options_check_reserved(options->pairs.reserved, 4, "pairs", error);
}

cog_status cog_related_find(cog_documents *documents, const cog_related_options *options,
                            const cog_run_options *run, cog_pairs **result, cog_report *report,
                            cog_error *error) {
    struct pair_task task = {0};
    struct match_list matches = {0};
    struct selection selection = {0};
    TRY(check_given(documents, "input", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "pairs", error));
    TRY(check_options(options, error));
    cog_status status = pair_join_init(&task, &options->pairs, 1, run, report, error);
    if (pairs_are_by_sets(&task.options))
        THEN(status, find_by_sets(&task, documents, options, &selection, &matches, error));
    else
        THEN(status, find_by_vectors(&task, documents, options, &selection, &matches, error));
    task.selected[0] = task.selected[1] = NULL;
    selection_free(&selection);
    return pairs_of_task(&task, status, &matches, result, error);
}

/* Measures the recall of a search by brute force on a sample of its queries, if the options request
 * it. Otherwise reports the recall measured when the index was built. */
#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "jobs/search/search_task.h"
#include "plan/method_choice.h"
#include "plan/sampled_truth.h"
#include "run/job.h"

/* ---- The sample ------------------------------------------------------------------------------ */

/* A sample of the queries, with the data to search for them, and their true neighbours. */
struct query_sample {
    uint32_t *queries;
    size_t count;
    struct query_parts parts;
    uint8_t *is_empty;
    struct hit_lists truth;
};

static void query_sample_free(struct query_sample *sample) {
    free(sample->queries);
    free(sample->is_empty);
    query_parts_free(&sample->parts);
    hit_lists_free(&sample->truth);
}

static cog_status query_sample_draw(const struct search_task *task, struct query_sample *sample,
                                    cog_error *error) {
    size_t most = task->options.recall_sample;
    most = most < task->queries ? most : task->queries;
    TAKE(sample->queries, most + 1, "the recall sample", error);
    sample->count = sample_rows(task->queries, most, 0, sample->queries);
    TAKE_ZEROED(sample->is_empty, sample->count + 1, "the recall sample", error);
    for (size_t i = 0; i < sample->count; i++)
        sample->is_empty[i] = task->is_empty && task->is_empty[sample->queries[i]];
    return query_parts_select(&task->parts, sample->queries, sample->count, &sample->parts, error);
}

/* Finds true neighbours by vectors if there are any, otherwise by signatures. */
static cog_status find_truth(const struct search_task *task, struct query_sample *sample,
                             cog_error *error) {
    const cog_search_options *options = &task->options;
    bool within =
        task->has_vectors ? options->threshold > 0 : options->radius_bits != COG_RADIUS_NONE;
    struct method_search asked = {.k = within ? 0 : options->k,
                                  .radius_bits = options->radius_bits,
                                  .threshold = options->threshold,
                                  .recall = 1,
                                  .threads = task->threads};
    return search_segments(task->index, method_of(method_exhaustive(task->has_vectors)), NULL,
                           &sample->parts, &asked, &sample->truth, error);
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Copies the hits found, with their true cosines if there are vectors. */
static cog_status copy_found(const struct search_task *task, struct query_spread *spread,
                             size_t query, struct match **copy, size_t *count, cog_error *error) {
    size_t begin = task->hits.offsets[query];
    *count = task->hits.offsets[query + 1] - begin;
    TAKE(*copy, *count + 1, "the recall sample", error);
    if (spread->values)
        query_spread_set(spread, query);
    for (size_t i = 0; i < *count; i++) {
        (*copy)[i] = task->hits.items[begin + i];
        double similarity;
        if (!spread->values)
            continue;
        TRY(query_spread_similarity(spread, task->index, (*copy)[i].b, &similarity, error));
        (*copy)[i].similarity = (float)similarity;
    }
    return COG_OK;
}

/* Counts the hits of the task's query queries[i] (NULL: i) against the truth of the sample's query
 * i. */
static cog_status count_hits(const struct search_task *task, const uint32_t *queries,
                             const struct query_sample *sample, struct share_tally *tally,
                             cog_error *error) {
    enum recall_key key = task->has_vectors ? RECALL_BY_SIMILARITY : RECALL_BY_DISTANCE;
    const struct hit_lists *truth = &sample->truth;
    struct query_spread spread = {0};
    cog_status status = COG_OK;
    *tally = (struct share_tally){0};
    if (task->has_vectors && task->estimates)
        status = query_spread_init(&spread, &task->parts, error);
    for (size_t i = 0; i < sample->count && status == COG_OK; i++) {
        struct match *found = NULL;
        size_t found_count = 0;
        size_t begin = truth->offsets[i], end = truth->offsets[i + 1];
        if (task->options.k && end - begin > task->options.k)
            end = begin + task->options.k;
        if (sample->is_empty[i])
            end = begin;
        status = copy_found(task, &spread, queries ? queries[i] : i, &found, &found_count, error);
        if (status == COG_OK)
            recall_count_nearest(truth->items + begin, end - begin, found, found_count, key, tally);
        free(found);
    }
    query_spread_free(&spread);
    return status;
}

/* Within a radius every hit is right, so counts give the recall: of the rows, or if one hit is
 * enough, of the queries with any hits. Queries are often rows of the index, and a query always
 * finds a row equal to itself; one such row is taken for the query's own and is not counted. */
static void count_within(const struct search_task *task, const struct query_sample *sample,
                         struct share_tally *tally) {
    const size_t *found = task->hits.offsets, *truth = sample->truth.offsets;
    for (size_t i = 0; i < sample->count; i++) {
        size_t own = found[sample->queries[i] + 1] - found[sample->queries[i]];
        size_t all = truth[i + 1] - truth[i], k = task->options.k;
        size_t itself = all > 0 && sample->truth.items[truth[i]].distance == 0;
        all = k && all > k ? k : all;
        if (!itself || !task->options.first)
            share_tally_add(tally, own > itself ? own - itself : 0, all - itself);
    }
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static cog_status measure(const struct search_task *task, cog_error *error) {
    struct query_sample sample = {0};
    struct share_tally tally = {0};
    uint64_t start = clock_ns();
    cog_status status = query_sample_draw(task, &sample, error);
    THEN(status, find_truth(task, &sample, error));
    if (status == COG_OK && task->options.radius_bits != COG_RADIUS_NONE)
        count_within(task, &sample, &tally);
    else
        THEN(status, count_hits(task, sample.queries, &sample, &tally, error));
    if (status == COG_OK) {
        report_recall(task->report, &tally, sample.count, (struct noun){"neighbour", "neighbours"},
                      (struct noun){"query", "queries"});
        report_stage(task->report, "measuring recall", clock_seconds_since(start));
    }
    query_sample_free(&sample);
    return status;
}

/* Reports the recall measured at the build, if it applies to this search. */
static void report_known(const struct search_task *task) {
    const struct measured_share *recall = &task->plan.recall;
    if (!task->plan.parts) {
        report_notice(task->report,
                      "the recall of this search is not known: measure it, or search with a "
                      "method and k whose recall was measured when the index was built");
        return;
    }
    report_number(task->report, "recall_at_build", recall->share);
    report_number(task->report, "recall_at_build_low", recall->low);
    report_number(task->report, "recall_at_build_high", recall->high);
    report_notice(task->report, "recall %.3f (95%%: %.3f to %.3f), measured at the build",
                  recall->share, recall->low, recall->high);
}

cog_status search_task_measure(const struct search_task *task, cog_error *error) {
    const cog_search_options *options = &task->options;
    const bool radius = options->radius_bits != COG_RADIUS_NONE;
    if (task->is_exact) {
        report_exact(task->report);
        return COG_OK;
    }
    /* With vectors, a radius still refers to signatures and has no true answer in cosines. */
    if (options->recall_sample && !(task->has_vectors && radius))
        return measure(task, error);
    if (task->looks_first) {
        report_number(task->report, "expected_recall", options->recall);
        return COG_OK;
    }
    if (options->k && !radius && options->threshold == 0 && !options->knobs.given &&
        !(task->has_vectors && task->estimates))
        report_known(task);
    else if (!options->knobs.given && (radius || options->threshold > 0) && !task->estimates)
        report_number(task->report, "expected_recall", options->recall);
    return COG_OK;
}

/* The recall of a search: a sample of its queries is answered exhaustively. One half of the sample
 * chooses how much the search looks at, the other half tells what it found. */
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "jobs/search/search_short.h"
#include "plan/sampled_truth.h"
#include "run/report.h"

enum { HALVED_FROM = 20 }; /* a smaller sample chooses and tells as a whole */

/* Some of the queries, with all that a search of them needs, and their true neighbours. */
struct query_sample {
    uint32_t *queries;
    size_t count;
    struct signatures_view signatures;
    uint8_t *signature_data, *is_empty;
    float *weights;
    struct sparse_matrix vectors;
    struct hit_lists truth;
};

struct search_sample {
    struct query_sample choosing, telling;
    double seconds;
};

static void query_sample_free(struct query_sample *sample) {
    free(sample->queries);
    free(sample->signature_data);
    free(sample->is_empty);
    free(sample->weights);
    sparse_matrix_free(&sample->vectors);
    hit_lists_free(&sample->truth);
}

void search_sample_free(struct search_sample *sample) {
    if (!sample)
        return;
    query_sample_free(&sample->choosing);
    query_sample_free(&sample->telling);
    free(sample);
}

/* A row of each query of the sample, or NULL where there are none. */
static bool copy_rows(const struct query_sample *sample, const void *rows, size_t size_bytes,
                      void *copies) {
    uint8_t *copy = memory_array(sample->count + 1, size_bytes);
    for (size_t i = 0; copy && i < sample->count; i++)
        memcpy(copy + i * size_bytes, (const uint8_t *)rows + sample->queries[i] * size_bytes,
               size_bytes);
    *(void **)copies = copy;
    return copy;
}

/* Every `step`-th of the chosen queries, from `first` on. */
static cog_status query_sample_take(const struct search_task *task, const uint32_t *chosen,
                                    size_t count, size_t first, size_t step,
                                    struct query_sample *sample, cog_error *error) {
    size_t bits = task->signatures.bits, stride = task->signatures.stride_bytes;
    sample->queries = memory_array(count + 1, sizeof *sample->queries);
    bool fits = sample->queries;
    for (size_t i = first; fits && i < count; i += step)
        sample->queries[sample->count++] = chosen[i];
    if (fits && bits)
        fits = copy_rows(sample, task->signatures.data, stride, &sample->signature_data);
    if (fits && task->weights)
        fits = copy_rows(sample, task->weights, bits * sizeof(float), &sample->weights);
    if (fits && task->is_empty)
        fits = copy_rows(sample, task->is_empty, 1, &sample->is_empty);
    if (fits && task->has_vectors)
        fits =
            sparse_matrix_select(&task->vectors, sample->queries, sample->count, &sample->vectors);
    sample->signatures =
        (struct signatures_view){sample->signature_data, sample->count, (unsigned)bits, stride};
    return fits ? COG_OK : error_memory(error, count * (stride + 4), "the recall sample");
}

static cog_status find_truth(const struct search_task *task, struct query_sample *sample,
                             cog_error *error) {
    if (task->has_vectors)
        return search_exact(task, &sample->vectors,
                            task->options.threshold > 0 ? 0 : task->options.k, &sample->truth,
                            error);
    struct signature_search search = {.index = task->index,
                                      .queries = &sample->signatures,
                                      .method = COG_METHOD_FLAT,
                                      .k = task->options.k,
                                      .threads = task->threads};
    return search_signatures(&search, &sample->truth, error);
}

/* Draws the sample and answers it, unless that was done. */
static cog_status take_sample(struct search_task *task, cog_error *error) {
    if (task->sample)
        return COG_OK;
    uint64_t start = clock_ns();
    size_t most = task->options.recall_sample;
    uint32_t *chosen = memory_array(most + 1, sizeof *chosen);
    task->sample = memory_zeroed_array(1, sizeof *task->sample);
    if (!chosen || !task->sample) {
        free(chosen);
        return error_memory(error, most * sizeof *chosen, "the recall sample");
    }
    size_t count = sample_rows(task->queries, most, 0, chosen);
    bool halves = count >= HALVED_FROM;
    struct query_sample *choosing = &task->sample->choosing, *telling = &task->sample->telling;
    cog_status status = query_sample_take(task, chosen, count, 0, halves ? 2 : 1, choosing, error);
    THEN(status, query_sample_take(task, chosen, count, halves, halves ? 2 : 1, telling, error));
    free(chosen);
    THEN(status, find_truth(task, choosing, error));
    THEN(status, find_truth(task, telling, error));
    task->sample->seconds = clock_seconds_since(start);
    return status;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* What was found, with its true cosines where there are vectors. */
static cog_status copy_found(const struct search_task *task, struct query_spread *spread,
                             size_t query, struct match **copy, size_t *count, cog_error *error) {
    size_t begin = task->hits.offsets[query];
    *count = task->hits.offsets[query + 1] - begin;
    *copy = memory_array(*count + 1, sizeof **copy);
    if (!*copy)
        return error_memory(error, *count * sizeof **copy, "the recall sample");
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

/* The hits of the task's query queries[i] (NULL: i) against the truth of the sample's i-th. */
static cog_status count_hits(const struct search_task *task, const uint32_t *queries,
                             const struct query_sample *sample, struct share_tally *tally,
                             cog_error *error) {
    enum recall_key key = task->has_vectors ? RECALL_BY_SIMILARITY : RECALL_BY_DISTANCE;
    const struct hit_lists *truth = &sample->truth;
    struct query_spread spread = {0};
    cog_status status = COG_OK;
    *tally = (struct share_tally){0};
    if (task->has_vectors && task->estimates)
        status = query_spread_init(&spread, &task->vectors, error);
    for (size_t i = 0; i < sample->count && status == COG_OK; i++) {
        struct match *found = NULL;
        size_t found_count = 0;
        size_t begin = truth->offsets[i], end = truth->offsets[i + 1];
        if (task->options.k && end - begin > task->options.k)
            end = begin + task->options.k;
        if (sample->is_empty && sample->is_empty[i])
            end = begin;
        status = copy_found(task, &spread, queries ? queries[i] : i, &found, &found_count, error);
        if (status == COG_OK)
            recall_count_nearest(truth->items + begin, end - begin, found, found_count, key, tally);
        free(found);
    }
    free(spread.values);
    return status;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* Whether the recall decides how much is looked at: not where the caller or the certificate does,
 * and not where estimates are listed, whose recall no effort raises. */
static bool recall_decides(const struct search_task *task) {
    const cog_search_options *options = &task->options;
    bool certain = options->method == COG_METHOD_EXACT || options->recall >= 1 ||
                   (options->method == COG_METHOD_FLAT && !task->has_vectors);
    return !certain && options->k && options->threshold == 0 &&
           options->radius_bits == COG_RADIUS_NONE && slices_knob(options, SLICES_EXPAND) < 0 &&
           options->recall_sample && (options->verify || !task->has_vectors);
}

static bool is_enough(const struct search_task *task, const struct share_tally *tally) {
    return (double)tally->hits >= task->options.recall * (double)tally->trials;
}

/* The next step, or what misses nothing. */
static void raise_effort(struct search_task *task) {
    struct search_effort effort;
    if (search_effort_of(task->options.method, task->step + 1, task->options.k,
                         task->index->parts.rows, &effort))
        task->step++;
    else
        task->options.method = task->has_vectors ? COG_METHOD_EXACT : COG_METHOD_FLAT;
}

/* Answers the sample as the task would. */
static cog_status try_step(const struct search_task *task, const struct query_sample *sample,
                           bool *enough, cog_error *error) {
    struct search_task part = *task;
    struct share_tally tally = {0};
    part.hits = (struct hit_lists){0};
    part.queries = sample->count;
    part.signatures = sample->signatures;
    part.weights = sample->weights;
    part.vectors = sample->vectors;
    part.is_empty = sample->is_empty;
    cog_status status = search_task_run(&part, error);
    THEN(status, count_hits(&part, NULL, sample, &tally, error));
    *enough = is_enough(task, &tally);
    hit_lists_free(&part.hits);
    return status;
}

cog_status search_task_tune(struct search_task *task, cog_error *error) {
    task->step = search_effort_usual(task->options.method, task->options.recall);
    if (!recall_decides(task))
        return COG_OK;
    bool enough = false;
    cog_status status = take_sample(task, error);
    task->step = 0;
    while (status == COG_OK && !enough && recall_decides(task)) {
        status = try_step(task, &task->sample->choosing, &enough, error);
        if (status == COG_OK && !enough)
            raise_effort(task);
    }
    return status;
}

cog_status search_task_measure(struct search_task *task, bool *enough, cog_error *error) {
    struct share_tally tally = {0};
    *enough = true;
    if (task->is_exact) {
        report_exact(task->report);
        return COG_OK;
    }
    if (task->options.method == COG_METHOD_PSM && task->options.recall_sample > 0)
        return search_short_measure(task, error);
    /* Beside vectors, a radius is about signatures: it has no true answer in cosines. */
    if (task->options.recall_sample == 0 ||
        (task->has_vectors && task->options.radius_bits != COG_RADIUS_NONE))
        return COG_OK;
    cog_status status = take_sample(task, error);
    uint64_t start = clock_ns();
    THEN(status,
         count_hits(task, task->sample->telling.queries, &task->sample->telling, &tally, error));
    if (status != COG_OK)
        return status;
    if (recall_decides(task) && !is_enough(task, &tally)) {
        *enough = false;
        raise_effort(task);
        return COG_OK;
    }
    report_recall(task->report, &tally, task->sample->telling.count,
                  (struct noun){"neighbour", "neighbours"}, (struct noun){"query", "queries"});
    report_stage(task->report, "measuring recall",
                 task->sample->seconds + clock_seconds_since(start));
    return COG_OK;
}

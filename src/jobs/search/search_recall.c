/* The recall of a search: a sample of its queries is answered exhaustively. One half of the sample
 * chooses how much the search looks at, the other half tells what it found. */
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "jobs/search/search_task.h"
#include "plan/sampled_truth.h"
#include "run/report.h"

enum { HALVED_FROM = 20 }; /* a smaller sample chooses and tells as a whole */

/* Some of the queries, with all that a search of them needs, and their true neighbours. */
struct query_sample {
    uint32_t *queries;
    size_t count;
    struct signatures_view signatures;
    uint8_t *signature_data, *is_empty;
    float *margins;
    struct sparse_matrix vectors;
    struct hit_lists truth;
};

struct search_sample {
    struct query_sample halves[2]; /* the first chooses; the second tells, if it is there */
    bool is_halved;
    uint64_t told; /* how often it has told the recall */
    double seconds;
};

static void query_sample_free(struct query_sample *sample) {
    free(sample->queries);
    free(sample->signature_data);
    free(sample->is_empty);
    free(sample->margins);
    sparse_matrix_free(&sample->vectors);
    hit_lists_free(&sample->truth);
    *sample = (struct query_sample){0};
}

void search_sample_free(struct search_sample *sample) {
    if (!sample)
        return;
    query_sample_free(&sample->halves[0]);
    query_sample_free(&sample->halves[1]);
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
    if (fits && task->margins)
        fits = copy_rows(sample, task->margins, bits * sizeof(float), &sample->margins);
    if (fits && task->is_empty)
        fits = copy_rows(sample, task->is_empty, 1, &sample->is_empty);
    if (fits && task->has_vectors)
        fits =
            sparse_matrix_select(&task->vectors, sample->queries, sample->count, &sample->vectors);
    sample->signatures =
        (struct signatures_view){sample->signature_data, sample->count, (unsigned)bits, stride};
    return fits ? COG_OK : error_memory(error, count * (stride + 4), "the recall sample");
}

/* True neighbours: of vectors if there are any, else of signatures. */
static cog_status find_truth(const struct search_task *task, struct query_sample *sample,
                             cog_error *error) {
    const cog_search_options *options = &task->options;
    bool within =
        task->has_vectors ? options->threshold > 0 : options->radius_bits != COG_RADIUS_NONE;
    struct method_search asked = {
        .queries = {.signatures = &sample->signatures, .vectors = &sample->vectors},
        .k = within ? 0 : options->k,
        .radius_bits = options->radius_bits,
        .threshold = options->threshold,
        .recall = 1,
        .threads = task->threads};
    return search_segments(task->index, method_of(method_exhaustive(task->has_vectors)), &asked,
                           &sample->truth, error);
}

/* Whether the recall decides how much is looked at: not if the caller or the certificate does, and
 * not if estimates are listed, whose recall no effort raises. */
static bool recall_decides(const struct search_task *task) {
    const cog_search_options *options = &task->options;
    const struct search_method *method = method_of(options->method);
    bool certain = options->recall >= 1 ||
                   (!method->build && (method->needs & NEEDS_VECTORS || !task->has_vectors));
    return !certain && options->k && options->threshold == 0 &&
           options->radius_bits == COG_RADIUS_NONE && !options->knobs.given &&
           options->recall_sample && (options->verify || !task->has_vectors);
}

/* Draws queries and answers those of each sample: every `step`-th, one after the other. */
static cog_status draw(const struct search_task *task, struct query_sample *samples, size_t step,
                       uint64_t seed, cog_error *error) {
    size_t most = task->options.recall_sample;
    uint32_t *chosen = memory_array(most + 1, sizeof *chosen);
    if (!chosen)
        return error_memory(error, most * sizeof *chosen, "the recall sample");
    size_t count = sample_rows(task->queries, most, seed, chosen);
    cog_status status = COG_OK;
    for (size_t i = 0; i < step && status == COG_OK; i++) {
        status = query_sample_take(task, chosen, count, i, step, &samples[i], error);
        THEN(status, find_truth(task, &samples[i], error));
    }
    free(chosen);
    return status;
}

/* The sample that the effort is chosen by, and another one that tells the recall; a small sample
 * does both. Once it has told, it has had its part in choosing, and a fresh one is drawn. */
static cog_status take_samples(struct search_task *task, bool telling, cog_error *error) {
    struct search_sample *own = task->sample;
    uint64_t start = clock_ns();
    size_t count =
        task->queries < task->options.recall_sample ? task->queries : task->options.recall_sample;
    cog_status status = COG_OK;
    if (!own) {
        task->sample = own = memory_zeroed_array(1, sizeof *own);
        if (!own)
            return error_memory(error, sizeof *own, "the recall sample");
        own->is_halved = count >= HALVED_FROM && task->options.radius_bits == COG_RADIUS_NONE;
        status = draw(task, own->halves, own->is_halved ? 2 : 1, 0, error);
    } else if (telling && own->told) {
        query_sample_free(&own->halves[1]);
        own->is_halved = true;
        status = draw(task, &own->halves[1], 1, own->told, error);
    }
    own->told += telling;
    own->seconds += clock_seconds_since(start);
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

static bool is_enough(const struct search_task *task, const struct share_tally *tally) {
    return (double)tally->hits >= task->options.recall * (double)tally->trials;
}

bool search_effort(const struct search_task *task, unsigned step, size_t *candidates) {
    enum { PER_NEIGHBOUR = 5, LEAST = 50 };
    size_t least = task->options.k * PER_NEIGHBOUR;
    *candidates = (least < LEAST ? LEAST : least) << step;
    return step < method_of(task->options.method)->effort_steps &&
           (*candidates / 2 < task->index->parts.rows || step == 0);
}

/* The next step, or what misses nothing. */
static void raise_effort(struct search_task *task) {
    size_t candidates;
    if (search_effort(task, task->effort + 1, &candidates))
        task->effort++;
    else
        task->options.method = method_exhaustive(task->has_vectors);
}

/* Answers the sample as the task would. */
static cog_status try_step(const struct search_task *task, const struct query_sample *sample,
                           bool *enough, cog_error *error) {
    struct search_task part = *task;
    struct share_tally tally = {0};
    part.hits = (struct hit_lists){0};
    part.queries = sample->count;
    part.signatures = sample->signatures;
    part.margins = sample->margins;
    part.vectors = sample->vectors;
    part.is_empty = sample->is_empty;
    cog_status status = search_task_run(&part, error);
    THEN(status, count_hits(&part, NULL, sample, &tally, error));
    *enough = is_enough(task, &tally);
    hit_lists_free(&part.hits);
    return status;
}

cog_status search_task_tune(struct search_task *task, cog_error *error) {
    const struct search_method *method = method_of(task->options.method);
    task->effort = method->usual_effort ? method->usual_effort(task->options.recall) : 0;
    if (!recall_decides(task))
        return COG_OK;
    bool enough = false;
    cog_status status = take_samples(task, false, error);
    task->effort = 0;
    while (status == COG_OK && !enough && recall_decides(task)) {
        status = try_step(task, &task->sample->halves[0], &enough, error);
        if (status == COG_OK && !enough)
            raise_effort(task);
    }
    return status;
}

/* Within a radius every hit is right, so that numbers of hits tell the recall: of the rows, or if
 * one is enough, of the queries that have any. Equal signatures are always found and do not
 * count, unless one is enough. */
static void count_within(const struct search_task *task, const struct query_sample *sample,
                         struct share_tally *tally) {
    const struct hit_lists *lists[2] = {&task->hits, &sample->truth};
    for (size_t i = 0; i < sample->count; i++) {
        size_t counts[2] = {0, 0}, k = task->options.k;
        for (int which = 0; which < 2; which++) {
            size_t query = which ? i : sample->queries[i];
            for (size_t j = lists[which]->offsets[query]; j < lists[which]->offsets[query + 1]; j++)
                counts[which] += k || lists[which]->items[j].distance > 0;
        }
        share_tally_add(tally, counts[0], k && counts[1] > k ? k : counts[1]);
    }
}

cog_status search_task_measure(struct search_task *task, bool *enough, cog_error *error) {
    struct share_tally tally = {0};
    const bool radius = task->options.radius_bits != COG_RADIUS_NONE;
    *enough = true;
    if (task->is_exact) {
        report_exact(task->report);
        return COG_OK;
    }
    /* Next to vectors, a radius is about signatures: it has no true answer in cosines. */
    if (task->options.recall_sample == 0 || (task->has_vectors && radius))
        return COG_OK;
    cog_status status = take_samples(task, true, error);
    if (status != COG_OK)
        return status;
    uint64_t start = clock_ns();
    const struct query_sample *telling = &task->sample->halves[task->sample->is_halved];
    if (radius)
        count_within(task, telling, &tally);
    else
        status = count_hits(task, telling->queries, telling, &tally, error);
    if (status != COG_OK)
        return status;
    if (recall_decides(task) && !is_enough(task, &tally)) {
        *enough = false;
        raise_effort(task);
        return COG_OK;
    }
    report_recall(task->report, &tally, telling->count, (struct noun){"neighbour", "neighbours"},
                  (struct noun){"query", "queries"});
    report_stage(task->report, "measuring recall",
                 task->sample->seconds + clock_seconds_since(start));
    return COG_OK;
}

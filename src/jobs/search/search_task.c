#include "jobs/search/search_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/threads.h"
#include "estimate/radius.h"
#include "join/cosine_join.h"
#include "plan/method_choice.h"
#include "plan/sampled_truth.h"
#include "run/job.h"

enum { VERIFY_GRAIN = 64 };

void search_task_free(struct search_task *task) {
    query_parts_free(&task->parts);
    hit_lists_free(&task->hits);
    search_sample_free(task->sample);
}

/* ---- What was asked -------------------------------------------------------------------------- */

static bool asks_within(const cog_search_options *options) {
    return options->threshold > 0 || options->radius_bits != COG_RADIUS_NONE;
}

/* Whether true cosines decide. */
static bool is_verified(const struct search_task *task) {
    return task->has_vectors && task->options.verify;
}

static bool cosines_decide(const struct search_task *task) {
    return is_verified(task) && task->options.radius_bits == COG_RADIUS_NONE;
}

static cog_status check_numbers(const cog_search_options *options, cog_error *error) {
    if (!(options->threshold >= 0 && options->threshold <= 1))
        return error_set(error, COG_ERR_USAGE, "a threshold of %g: choose above 0 and at most 1",
                         options->threshold);
    if (!(options->recall > 0 && options->recall <= 1))
        return error_set(error, COG_ERR_USAGE, "a recall of %g: choose above 0 and at most 1",
                         options->recall);
    if (options->threshold > 0 && options->radius_bits != COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE, "a threshold and a radius: give one of them");
    if (options->k == 0 && !asks_within(options))
        return error_set(error, COG_ERR_USAGE,
                         "nothing to look for: give k, a threshold or a "
                         "radius");
    return COG_OK;
}

/* The radius that tables of the method serve. */
static uint32_t radius_most(const cog_index *index, const struct search_method *method) {
    cog_index_info info = {.radius_bits = UINT32_MAX};
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const void *tables = segment_tables(&index->parts.segments[part], method);
        if (tables && method->is_for_radius && method->certain & COG_ANSWERS_WITHIN) {
            method->describe(tables, &info);
            break;
        }
    }
    return info.radius_bits;
}

static cog_status complete_knobs(const struct search_task *task, const struct search_method *method,
                                 cog_knobs *knobs, cog_error *error) {
    struct method_size size = {.rows = task->index->parts.rows,
                               .queries = task->queries,
                               .bits = index_bits(task->index),
                               .radius_bits = task->options.radius_bits};
    if (!method->settings || (method->is_for_radius && size.radius_bits == COG_RADIUS_NONE))
        return COG_OK;
    return method->settings(&size, knobs, error);
}

/* What the method says about the question. */
static cog_status check_method(const struct search_task *task, const struct search_method *method,
                               cog_error *error) {
    const cog_search_options *options = &task->options;
    if (!method->search)
        return error_set(error, COG_ERR_USAGE,
                         "the method %s joins pairs and does not search an index", method->name);
    if (method->needs & NEEDS_VECTORS && options->radius_bits != COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "a radius is about signatures, and the method %s uses none: give a "
                         "threshold, or use a method of signatures",
                         method->name);
    if (method->needs & NEEDS_VECTORS && !options->verify)
        return error_about(
            error, COG_ERR_USAGE, "verify",
            "the method %s computes true similarities: it cannot leave the check out",
            method->name);
    if (options->first && !(method->answers & COG_ANSWERS_ANY))
        return error_about(
            error, COG_ERR_USAGE, "first",
            "the method %s does not stop at the first row within a radius: ask for one "
            "neighbour (k = 1)",
            method->name);
    cog_knobs knobs = options->knobs;
    TRY(complete_knobs(task, method, &knobs, error));
    if (!index_serves(task->index, method))
        return error_about(error, COG_ERR_USAGE, "method",
                           "the index has no tables for %s: build it with the method %s",
                           method->name, method->name);
    if (!(method->answers & COG_ANSWERS_NEAREST) && options->radius_bits == COG_RADIUS_NONE)
        return error_about(error, COG_ERR_USAGE, "radius_bits",
                           "the method %s finds what is within a radius: give one", method->name);
    uint32_t most = radius_most(task->index, method);
    if (method->is_for_radius && options->radius_bits > most)
        return error_about(error, COG_ERR_USAGE, "radius_bits",
                           "the index serves radii up to %u by %s, not %u: build it with a greater "
                           "radius, or use flat",
                           most, method->name, options->radius_bits);
    return COG_OK;
}

/* A recall of 1 is certain. Of true cosines only the exhaustive method is; a method that keeps no
 * tables looks at every row, which is what that does. */
static cog_status answer_certainly(struct search_task *task, const struct search_method *method,
                                   cog_error *error) {
    cog_search_options *options = &task->options;
    unsigned asked = asks_within(options) ? COG_ANSWERS_WITHIN : COG_ANSWERS_NEAREST;
    bool of_cosines = cosines_decide(task) && !(method->needs & NEEDS_VECTORS);
    if (options->recall < 1 || method->needs & NEEDS_VECTORS)
        return COG_OK;
    if ((method->answers & asked && !(method->certain & asked)) || (of_cosines && method->build))
        return error_set(error, COG_ERR_USAGE,
                         "a recall of 1 is certain, and the method %s is not: use the method auto "
                         "or %s, or a recall below 1",
                         method->name, method_name(method_exhaustive(of_cosines)));
    if (of_cosines) {
        options->method = method_exhaustive(true);
        report_notice(task->report,
                      "signatures cannot certify the cosines of documents: a recall "
                      "of 1 is answered by the method %s",
                      method_name(options->method));
    }
    return COG_OK;
}

cog_status search_task_check(struct search_task *task, cog_error *error) {
    cog_search_options *options = &task->options;
    TRY(method_take_knobs(&options->method, &options->knobs, COG_KNOB_SEARCH, error));
    TRY(check_numbers(options, error));
    if (task->has_vectors && options->threshold > COSINE_PRECISION)
        options->threshold -= COSINE_PRECISION;
    const struct search_method *method = method_of(options->method);
    if (method && method->needs & NEEDS_VECTORS && !task->has_vectors && method->search) {
        if (task->index->has_documents)
            return error_set(error, COG_ERR_USAGE,
                             "the method %s needs vectors of the index and of the queries: build "
                             "the index with them, or use a method of signatures",
                             method->name);
        options->method = method_exhaustive(false); /* exact in Hamming distance */
        method = method_of(options->method);
    }
    TRY(method ? check_method(task, method, error) : COG_OK);
    if (options->first)
        options->k = 1;
    return method ? answer_certainly(task, method, error) : COG_OK;
}

bool search_task_needs_signatures(const struct search_task *task) {
    const struct search_method *method = method_of(task->options.method);
    return method ? !(method->needs & NEEDS_VECTORS) : !cosines_decide(task);
}

bool search_task_wants_margins(const cog_index *index, const cog_search_options *options) {
    const struct segment *first = index->parts.segments;
    unsigned needs = 0;
    for (unsigned i = 0; index->parts.manifest.count && i < first->table_count; i++)
        needs |= first->tables[i].method->needs;
    return options->recall < 1 && (needs & NEEDS_QUERY_MARGINS ||
                                   (needs & PREFERS_QUERY_MARGINS && !options->knobs.given));
}

/* A streamed index takes what it needs, or the room that there is for a chunk of its rows. */
double search_task_bytes(const struct search_task *task) {
    enum { CHUNK_ROWS_MIN = 1 << 12 };
    const struct search_method *method = method_of(task->options.method);
    const cog_index *index = task->index;
    struct method_size size = {.rows = index->parts.rows,
                               .queries = task->queries,
                               .k = task->options.k,
                               .bits = index_bits(index),
                               .radius_bits = index->streamed_radius_bits,
                               .threads = task->threads};
    struct method_prediction whole = {0}, least = {0};
    if (!method || !method->predict)
        return 0;
    bool streams = index->streamed && method->is_for_radius;
    const cog_knobs *knobs = index->streamed == method ? &index->streamed_knobs : NULL;
    method->predict(&size, streams ? knobs : &task->options.knobs, &whole);
    uint64_t memory_bytes = task->run ? task->run->memory_bytes : 0;
    double room = (double)memory_bytes - MEMORY_BASE_BYTES;
    if (!streams)
        return method->build ? 0 : whole.search_bytes;
    if (memory_bytes == 0 || whole.search_bytes < room)
        return whole.search_bytes;
    size.rows = size.rows < CHUNK_ROWS_MIN ? size.rows : CHUNK_ROWS_MIN;
    method->predict(&size, knobs, &least);
    return least.search_bytes > room ? least.search_bytes : room;
}

struct method_search search_task_ask(const struct search_task *task) {
    const cog_search_options *options = &task->options;
    const struct search_method *method = method_of(options->method);
    unsigned bits = index_bits(task->index);
    uint64_t memory_bytes = task->run ? task->run->memory_bytes : 0;
    struct method_search asked = {.k = options->k,
                                  .radius_bits = options->radius_bits,
                                  .threshold = options->threshold,
                                  .first = options->first,
                                  .recall = options->recall,
                                  .effort = task->effort,
                                  .knobs = &options->knobs,
                                  .memory_bytes = memory_bytes > MEMORY_BASE_BYTES
                                                      ? memory_bytes - MEMORY_BASE_BYTES
                                                      : memory_bytes > 0,
                                  .threads = task->threads,
                                  .scratch = task->scratch};
    if (asks_within(options)) {
        asked.k = 0;
        if (options->radius_bits == COG_RADIUS_NONE)
            asked.radius_bits =
                is_verified(task)
                    ? radius_for_recall(bits, bit_flip_probability_cosine(options->threshold),
                                        options->recall)
                    : cog_radius_of_cosine(options->threshold, bits);
        asked.radius_bits = asked.radius_bits < bits ? asked.radius_bits : bits;
        return asked;
    }
    search_effort(task, task->effort, &asked.candidates);
    if (is_verified(task) && !(method->needs & NEEDS_VECTORS))
        asked.k = asked.candidates;
    return asked;
}

/* ---- Choosing a method ----------------------------------------------------------------------- */

/* Seconds that all queries are expected to take: some of them are answered. The exhaustive method
 * compares a whole block of them, with a part of the rows. */
static cog_status expect_seconds(const struct search_task *task, cog_method number, double *seconds,
                                 cog_error *error) {
    enum { TRIED_ROWS = 1 << 16, TRIED_QUERIES = 512, TRIED_ALONE = 8 };
    const struct search_method *method = method_of(number);
    const cog_index *index = task->index;
    struct method_search asked = search_task_ask(task);
    struct query_parts tried = {0};
    struct hit_lists lists = {0};
    uint32_t chosen[TRIED_QUERIES];
    size_t count = method->build ? TRIED_ALONE : TRIED_QUERIES, largest = 0;
    double share = 1, threads = 1;
    count = task->queries < count ? task->queries : count;
    for (size_t i = 0; i < count; i++)
        chosen[i] = (uint32_t)i;
    cog_status status = query_parts_select(&task->parts, chosen, count, &tried, error);
    uint64_t start = clock_ns();
    if (status == COG_OK && method->build) {
        asked.threads = 1;
        status = search_segments(index, method, &tried, &asked, &lists, error);
        threads = task->queries > TRIED_ALONE ? task->threads : 1;
    } else if (status == COG_OK) {
        for (size_t i = 1; i < index->parts.manifest.count; i++)
            if (index->parts.segments[i].rows > index->parts.segments[largest].rows)
                largest = i;
        struct signatures_view rows = index->parts.segments[largest].signatures;
        rows.rows = rows.rows < TRIED_ROWS ? rows.rows : TRIED_ROWS;
        asked.rows = (struct method_rows){.signatures = &rows};
        asked.queries = query_parts_of(&tried, largest);
        status = method->search(NULL, &asked, &lists, error);
        share = (double)rows.rows / (double)index->parts.rows;
    }
    *seconds = clock_seconds_since(start) / share * (double)task->queries / (double)count / threads;
    query_parts_free(&tried);
    hit_lists_free(&lists);
    return status;
}

/* The index's own method is taken if it is expected to be faster than the exhaustive one with the
 * effort that the recall needs. */
static cog_status choose_by_time(struct search_task *task, cog_method own, cog_error *error) {
    double seconds[2] = {0, 0};
    const cog_method methods[2] = {method_exhaustive(false), own};
    task->options.method = own;
    TRY(search_task_tune(task, error));
    if (task->options.method != own)
        return COG_OK;
    for (int i = 0; i < 2; i++) {
        char name[64];
        TRY(expect_seconds(task, methods[i], &seconds[i], error));
        snprintf(name, sizeof name, "expected_seconds_%s", method_name(methods[i]));
        report_number(task->report, name, seconds[i]);
    }
    if (seconds[1] >= seconds[0])
        task->options.method = methods[0];
    return COG_OK;
}

/* Whether auto may take a method for what is asked. */
static bool may_choose(const void *context, const struct search_method *method) {
    const struct search_task *task = context;
    const cog_search_options *options = &task->options;
    bool radius = options->radius_bits != COG_RADIUS_NONE;
    if (!method->build || !method->search || task->index->streamed ||
        !index_serves(task->index, method))
        return false;
    if (!method->is_chosen_unmeasured)
        return method->answers & (options->k ? COG_ANSWERS_NEAREST : COG_ANSWERS_WITHIN);
    cog_knobs none = {0};
    return radius && options->radius_bits <= radius_most(task->index, method) &&
           (!(method->needs & NEEDS_QUERY_MARGINS) || task->has_margins) &&
           (options->recall < 1 || method->certain & COG_ANSWERS_WITHIN) &&
           complete_knobs(task, method, &none, NULL) == COG_OK;
}

/* Small searches take less than a tenth of a second: they are not worth a choice. */
static cog_status choose_method(struct search_task *task, cog_error *error) {
    enum { SMALL_COMPARISONS = 1 << 26 };
    cog_method own = method_for_search(may_choose, task);
    task->options.method = method_exhaustive(cosines_decide(task));
    if (own != COG_METHOD_AUTO && method_of(own)->is_chosen_unmeasured) {
        task->options.method = own;
        return COG_OK;
    }
    if (own == COG_METHOD_AUTO || cosines_decide(task) ||
        (double)task->queries * (double)task->index->parts.rows < SMALL_COMPARISONS ||
        task->queries <= task->options.recall_sample)
        return COG_OK;
    return choose_by_time(task, own, error);
}

cog_status search_task_choose(struct search_task *task, cog_error *error) {
    TRY(task->options.method == COG_METHOD_AUTO ? choose_method(task, error) : COG_OK);
    return search_task_tune(task, error);
}

/* ---- Answering ------------------------------------------------------------------------------- */

struct verification {
    const struct search_task *task;
    struct hit_lists *lists;
    size_t *counts;
};

/* True cosines of a query's candidates; those that count go to the front, in order. */
static cog_status verify_query(const struct verification *verification, struct query_spread *spread,
                               size_t query, cog_error *error) {
    const struct search_task *task = verification->task;
    size_t first = verification->lists->offsets[query], kept = 0;
    struct match *items = verification->lists->items + first;
    size_t count = verification->lists->offsets[query + 1] - first;
    query_spread_set(spread, query);
    for (size_t i = 0; i < count; i++) {
        double similarity;
        TRY(query_spread_similarity(spread, task->index, items[i].b, &similarity, error));
        if (similarity <= 0 || similarity < task->options.threshold)
            continue;
        items[kept] = items[i];
        items[kept++].similarity = (float)similarity;
    }
    hits_sort(items, kept, HITS_BY_SIMILARITY);
    verification->counts[query] = kept;
    return COG_OK;
}

static cog_status verify_queries(void *context, unsigned worker, size_t begin, size_t end,
                                 cog_error *error) {
    (void)worker;
    const struct verification *verification = context;
    struct query_spread own = {0}, *spread = verification->task->spread;
    cog_status status =
        spread ? COG_OK : query_spread_init(&own, &verification->task->parts, error);
    spread = spread ? spread : &own;
    for (size_t query = begin; query < end && status == COG_OK; query++)
        status = verify_query(verification, spread, query, error);
    if (spread != &own)
        query_spread_clear(spread);
    query_spread_free(&own);
    return status;
}

/* Keeps of each list what counts: if true cosines decide, the hits that reach the threshold; the
 * first k (0: all); nothing of an empty query. */
static cog_status keep_hits(const struct search_task *task, bool verifies, struct hit_lists *lists,
                            cog_error *error) {
    struct verification verification = {task, lists, NULL};
    TAKE(verification.counts, lists->queries, "queries", error);
    for (size_t query = 0; query < lists->queries; query++)
        verification.counts[query] = lists->offsets[query + 1] - lists->offsets[query];
    cog_status status = verifies ? parallel_for(task->threads, lists->queries, VERIFY_GRAIN,
                                                verify_queries, &verification, error)
                                 : COG_OK;
    size_t k = task->options.k, begin = 0, at = 0;
    for (size_t query = 0; query < lists->queries && status == COG_OK; query++) {
        size_t count = verification.counts[query];
        if (k && count > k)
            count = k;
        if (task->is_empty && task->is_empty[query])
            count = 0;
        for (size_t i = 0; i < count; i++)
            lists->items[at++] = lists->items[begin + i];
        begin = lists->offsets[query + 1];
        lists->offsets[query + 1] = at;
    }
    free(verification.counts);
    return status;
}

cog_status search_task_run(struct search_task *task, cog_error *error) {
    const struct search_method *method = method_of(task->options.method);
    bool of_vectors = method->needs & NEEDS_VECTORS;
    struct method_search asked = search_task_ask(task);
    hit_lists_free(&task->hits);
    TRY(search_segments(task->index, method, &task->parts, &asked, &task->hits, error));
    task->candidates = task->hits.offsets[task->queries];
    task->radius_bits = asked.k == 0 ? asked.radius_bits : COG_RADIUS_NONE;
    task->has_distances = !of_vectors;
    task->estimates = !of_vectors && !is_verified(task);
    task->chunks = asked.chunks_out;
    task->is_exact = asked.is_exact_out && (of_vectors || !task->has_vectors);
    return keep_hits(task, is_verified(task) && !of_vectors, &task->hits, error);
}

void search_task_report(const struct search_task *task) {
    const struct search_method *method = method_of(task->options.method);
    if (!(method->needs & NEEDS_VECTORS)) {
        report_number(task->report, "candidates", (double)task->candidates);
        if (task->radius_bits != COG_RADIUS_NONE)
            report_number(task->report, "radius_bits", task->radius_bits);
    }
    if (task->chunks)
        report_number(task->report, "chunks", (double)task->chunks);
    report_text(task->report, "method", method->name);
    report_number(task->report, "queries", (double)task->queries);
    report_number(task->report, "matches", (double)task->hits.offsets[task->queries]);
}

/* ---- Recall ------------------------------------------------------------------------------------
 */

enum { HALVED_FROM = 20 }; /* a smaller sample chooses and tells as a whole */

/* Some of the queries, with all that a search of them needs, and their true neighbours. */
struct query_sample {
    uint32_t *queries;
    size_t count;
    struct query_parts parts;
    uint8_t *is_empty;
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
    free(sample->is_empty);
    query_parts_free(&sample->parts);
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

/* Every `step`-th of the chosen queries, from `first` on. */
static cog_status query_sample_take(const struct search_task *task, const uint32_t *chosen,
                                    size_t count, size_t first, size_t step,
                                    struct query_sample *sample, cog_error *error) {
    TAKE(sample->queries, count + 1, "the recall sample", error);
    TAKE_ZEROED(sample->is_empty, count + 1, "the recall sample", error);
    for (size_t i = first; i < count; i += step) {
        sample->is_empty[sample->count] = task->is_empty && task->is_empty[chosen[i]];
        sample->queries[sample->count++] = chosen[i];
    }
    return query_parts_select(&task->parts, sample->queries, sample->count, &sample->parts, error);
}

/* True neighbours: of vectors if there are any, else of signatures. */
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
    return search_segments(task->index, method_of(method_exhaustive(task->has_vectors)),
                           &sample->parts, &asked, &sample->truth, error);
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
    uint32_t *chosen;
    TAKE(chosen, most + 1, "the recall sample", error);
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
        TAKE_ZEROED(task->sample, 1, "the recall sample", error);
        own = task->sample;
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
    part.parts = sample->parts;
    part.is_empty = sample->is_empty;
    cog_status status = search_task_run(&part, error);
    THEN(status, count_hits(&part, NULL, sample, &tally, error));
    *enough = is_enough(task, &tally);
    hit_lists_free(&part.hits);
    return status;
}

cog_status search_task_tune(struct search_task *task, cog_error *error) {
    const struct search_method *method = method_of(task->options.method);
    task->effort = method->effort_steps ? method->usual_effort + (task->options.recall > 0.85) +
                                              (task->options.recall > 0.95)
                                        : 0;
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

/* Within a radius every hit is right, so counts give the recall: of the rows, or if one hit is
 * enough, of the queries that have any. Queries are often rows of the index, and a query always
 * finds a row equal to itself; one such row is taken for the query's own and does not count. */
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
    TRY(take_samples(task, true, error));
    uint64_t start = clock_ns();
    const struct query_sample *telling = &task->sample->halves[task->sample->is_halved];
    if (radius)
        count_within(task, telling, &tally);
    else
        TRY(count_hits(task, telling->queries, telling, &tally, error));
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

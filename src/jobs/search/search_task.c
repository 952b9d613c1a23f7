#include "jobs/search/search_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/threads.h"
#include "estimate/radius.h"
#include "jobs/search/first_look.h"
#include "join/cosine/cosine_join.h"
#include "plan/method_choice.h"
#include "run/job.h"

enum { VERIFY_GRAIN = 64 };

void search_task_free(struct search_task *task) {
    query_parts_free(&task->parts);
    hit_lists_free(&task->hits);
    search_plan_free(&task->plan);
}

/* ---- The question ---------------------------------------------------------------------------- */

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
    if (options->threshold != 0)
        TRY(check_share(options->threshold, "threshold", error));
    TRY(check_share(options->recall, "recall", error));
    if (options->threshold > 0 && options->radius_bits != COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "both a threshold and a radius are given: give one of them");
    if (options->k == 0 && !asks_within(options))
        return error_set(error, COG_ERR_USAGE,
                         "nothing to look for: give k, a threshold or a "
                         "radius");
    return COG_OK;
}

/* The largest radius that the method's tables support. */
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

/* Checks that the method supports the question. */
static cog_status check_method(const struct search_task *task, const struct search_method *method,
                               cog_error *error) {
    const cog_search_options *options = &task->options;
    if (!method->search)
        return error_set(error, COG_ERR_USAGE,
                         "the method %s joins pairs and does not search an index", method->name);
    if (method->needs & NEEDS_VECTORS && options->radius_bits != COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "a radius applies to signatures, and the method %s uses none: use a "
                         "threshold, or use a method of signatures",
                         method->name);
    if (method->needs & NEEDS_VECTORS && !options->verify)
        return error_about(
            error, COG_ERR_USAGE, "verify",
            "the method %s always computes true similarities: it cannot skip the check",
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
                           "the method %s searches within a radius: give one", method->name);
    uint32_t most = radius_most(task->index, method);
    if (method->is_for_radius && options->radius_bits > most)
        return error_about(error, COG_ERR_USAGE, "radius_bits",
                           "the index serves radii up to %u by %s, not %u: build it with a greater "
                           "radius, or use flat",
                           most, method->name, options->radius_bits);
    return COG_OK;
}

/* A recall of 1 must be certain. For true cosines only the exhaustive method is. A method without
 * tables looks at every row, as that does. */
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
    return task->looks_first || !(method_of(task->options.method)->needs & NEEDS_VECTORS);
}

bool search_task_wants_margins(const cog_index *index, const cog_search_options *options) {
    const struct segment *first = index->parts.segments;
    unsigned needs = 0;
    for (unsigned i = 0; index->parts.manifest.count && i < first->table_count; i++)
        needs |= first->tables[i].method->needs;
    if (index_is_of_minhash(index))
        return false;
    bool is_graded = index->has_vectors && options->verify && options->k && !asks_within(options);
    return options->recall < 1 &&
           (needs & NEEDS_QUERY_MARGINS ||
            ((needs & PREFERS_QUERY_MARGINS || is_graded) && !options->knobs.given));
}

/* A streamed index takes what it needs, or the memory available for a chunk of its rows. */
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

/* The question to the method, from the options and the task's effort. */
static struct method_search search_task_ask(const struct search_task *task) {
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
                    : index_radius_of(task->index, options->threshold);
        asked.radius_bits = asked.radius_bits < bits ? asked.radius_bits : bits;
        return asked;
    }
    asked.candidates = recall_candidates(options->k, task->effort);
    if (is_verified(task) && !(method->needs & NEEDS_VECTORS))
        asked.k = asked.candidates;
    return asked;
}

/* ---- Choosing a method ----------------------------------------------------------------------- */

/* Whether auto may choose a method without a plan. */
static bool may_choose(const void *context, const struct search_method *method) {
    const struct search_task *task = context;
    const cog_search_options *options = &task->options;
    bool radius = options->radius_bits != COG_RADIUS_NONE;
    cog_knobs none = {0};
    return method->build && method->search && method->is_chosen_unmeasured &&
           !task->index->streamed && index_serves(task->index, method) && radius &&
           options->radius_bits <= radius_most(task->index, method) &&
           (!(method->needs & NEEDS_QUERY_MARGINS) || task->has_margins) &&
           (options->recall < 1 || method->certain & COG_ANSWERS_WITHIN) &&
           complete_knobs(task, method, &none, NULL) == COG_OK;
}

/* Whether the recall determines how much is searched: not if the caller or the certificate does,
 * and not if estimates are listed, as no effort raises their recall. */
static bool recall_decides(const struct search_task *task) {
    const cog_search_options *options = &task->options;
    return options->recall < 1 && options->k && !asks_within(options) && !options->knobs.given &&
           (options->verify || !task->has_vectors) && task->index->parts.rows > 0;
}

enum { CANDIDATES_MAX_BYTES = 256 << 20 }; /* limit for listing candidates at once */

/* Memory of the candidates of all queries until their cosines are computed. */
static double candidates_bytes(const struct search_task *task) {
    double candidates = 0;
    for (size_t part = 0; part < task->plan.count; part++)
        candidates += (double)task->plan.parts[part].proposed;
    return candidates * (double)task->queries * sizeof(struct match);
}

/* Makes the plan by the options' method, or by any for auto. No plan if nothing is known to reach
 * the recall, or if the exhaustive method is as cheap: it reaches every recall, so otherwise a
 * lower recall could take longer than a higher one. */
static cog_status make_plan(struct search_task *task, cog_error *error) {
    const cog_search_options *options = &task->options;
    const struct search_method *method = method_of(options->method);
    const bool is_auto = !method, of_cosines = cosines_decide(task);
    const double room = (double)CANDIDATES_MAX_BYTES / sizeof(struct match);
    const struct effort_question question = {.queries = task->queries,
                                             .k = options->k,
                                             .bits = index_bits(task->index),
                                             .recall = options->recall,
                                             .of_cosines = of_cosines,
                                             .has_margins = task->has_margins};
    enum plan_result result = PLAN_TOO_LITTLE;
    TRY(search_plan_make(task->index, &question, method, &task->plan, &result, error));
    if (result == PLAN_UNMEASURED && !is_auto && !of_cosines)
        return COG_OK;
    if (of_cosines && result == PLAN_MADE &&
        (task->plan.query_ns >= search_exhaustive_ns(task->index, &question) ||
         candidates_bytes(task) > CANDIDATES_MAX_BYTES))
        search_plan_free(&task->plan);
    if (!is_auto && of_cosines && !task->plan.parts)
        report_notice(task->report,
                      "all cosines cost no more than %s with this recall: the answer is exact",
                      method->name);
    double own_ns =
        task->plan.parts ? task->plan.query_ns : search_exhaustive_ns(task->index, &question);
    task->looks_first = is_auto && first_look_pays(task, &question, own_ns) &&
                        (double)first_look_candidates(question.k) * (double)task->queries < room;
    task->options.method = method_exhaustive(of_cosines);
    if (task->plan.parts)
        task->options.method =
            method_named(search_plan_main(&task->plan, task->index)->method->name);
    return COG_OK;
}

cog_status search_task_choose(struct search_task *task, cog_error *error) {
    cog_search_options *options = &task->options;
    if (options->method == COG_METHOD_AUTO)
        options->method = method_for_search(may_choose, task);
    const struct search_method *method = method_of(options->method);
    if (recall_decides(task) && !(method && method->needs & NEEDS_VECTORS))
        TRY(make_plan(task, error));
    else if (!method)
        options->method = method_exhaustive(cosines_decide(task));
    method = method_of(options->method);
    task->effort = method->effort_steps
                       ? method->usual_effort + (options->recall > 0.85) + (options->recall > 0.95)
                       : 0;
    return COG_OK;
}

/* ---- Answering ------------------------------------------------------------------------------- */

struct verification {
    const struct search_task *task;
    struct hit_lists *lists;
    size_t *counts;
};

/* Computes the true cosines of a query's candidates; moves those that count to the front, in order.
 */
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

/* Reduces each list to what counts: if true cosines decide, hits that reach the threshold; the
 * first k (0: all); nothing for an empty query. */
static cog_status keep_hits(const struct search_task *task, bool verifies, struct hit_lists *lists,
                            cog_error *error) {
    struct verification verification = {task, lists, NULL};
    TAKE(verification.counts, lists->queries, "queries", error);
    for (size_t query = 0; query < lists->queries; query++)
        verification.counts[query] = lists->offsets[query + 1] - lists->offsets[query];
    cog_status status = verifies ? parallel_for(task->threads, lists->queries, VERIFY_GRAIN,
                                                verify_queries, &verification, error)
                                 : COG_OK;
    size_t k = task->options.k;
    for (size_t query = 0; query < lists->queries && status == COG_OK; query++) {
        if (k && verification.counts[query] > k)
            verification.counts[query] = k;
        if (task->is_empty && task->is_empty[query])
            verification.counts[query] = 0;
    }
    if (status == COG_OK)
        hit_lists_cut(lists, verification.counts);
    free(verification.counts);
    return status;
}

/* For many candidates it pays to weigh all rows; the index then keeps their weights. */
static cog_status weigh_rows(const struct search_task *task, cog_error *error) {
    const cog_index *index = task->index;
    struct sparse_matrix vectors;
    for (size_t part = 0; part < index->parts.manifest.count; part++)
        if (task->plan.parts && effort_weighs_all(index->parts.segments[part].rows, task->queries,
                                                  task->plan.parts[part].candidates))
            TRY(index_part_vectors(index, part, task->threads, &vectors, error));
    return COG_OK;
}

/* Searches by the method of the options, or by the plan. */
static cog_status run_planned(struct search_task *task, cog_error *error) {
    const struct search_method *method = method_of(task->options.method);
    bool of_vectors = method->needs & NEEDS_VECTORS;
    struct method_search asked = search_task_ask(task);
    hit_lists_free(&task->hits);
    TRY(search_segments(task->index, method, &task->plan, &task->parts, &asked, &task->hits,
                        error));
    task->compared = asked.compared_out;
    task->candidates = task->hits.offsets[task->queries];
    task->radius_bits = asked.k == 0 ? asked.radius_bits : COG_RADIUS_NONE;
    task->has_distances = !of_vectors;
    task->estimates = !of_vectors && !is_verified(task);
    task->chunks = asked.chunks_out;
    task->is_exact = asked.is_exact_out && (of_vectors || !task->has_vectors);
    if (is_verified(task) && !of_vectors)
        TRY(weigh_rows(task, error));
    return keep_hits(task, is_verified(task) && !of_vectors, &task->hits, error);
}

/* Searches for some of the queries as a task of their own, which borrows shared data. */
static cog_status run_some(struct search_task *task, const uint32_t *queries, size_t count,
                           struct search_task *some, cog_error *error) {
    *some = *task;
    some->parts = (struct query_parts){0};
    some->hits = (struct hit_lists){0};
    some->queries = count;
    some->is_empty = NULL; /* the selected queries are known to be non-empty */
    some->looks_first = false;
    TRY(query_parts_select(&task->parts, queries, count, &some->parts, error));
    return run_planned(some, error);
}

/* Merges the hits of some queries with those of the others. */
static cog_status join_hits(struct search_task *task, const uint32_t *queries, size_t count,
                            const struct hit_lists *some, cog_error *error) {
    struct hit_lists all, *own = &task->hits;
    size_t at = 0, next = 0;
    TRY(hit_lists_init(&all, own->queries, own->offsets[own->queries] + some->offsets[count],
                       error));
    for (size_t query = 0; query < own->queries; query++) {
        const bool is_some = next < count && queries[next] == query;
        const struct hit_lists *from = is_some ? some : own;
        const size_t place = is_some ? next++ : query;
        for (size_t i = from->offsets[place]; i < from->offsets[place + 1]; i++) {
            all.items[at] = from->items[i];
            all.items[at++].a = (uint32_t)query;
        }
        all.offsets[query + 1] = at;
    }
    hit_lists_free(own);
    *own = all;
    return COG_OK;
}

/* Answers the queries left open by the first look. */
static cog_status run_unsure(struct search_task *task, const uint32_t *queries, size_t count,
                             cog_error *error) {
    const uint64_t compared = task->compared, candidates = task->candidates;
    if (count == task->queries) {
        TRY(query_parts_weigh_now(&task->parts, error));
        TRY(run_planned(task, error));
    } else {
        struct search_task some;
        cog_status status = run_some(task, queries, count, &some, error);
        THEN(status, join_hits(task, queries, count, &some.hits, error));
        task->compared = some.compared;
        task->candidates = some.candidates;
        query_parts_free(&some.parts);
        hit_lists_free(&some.hits);
        TRY(status);
    }
    task->compared += compared;
    task->candidates += candidates;
    return COG_OK;
}

static cog_status run_first_look(struct search_task *task, uint8_t *is_unsure, uint32_t *queries,
                                 cog_error *error) {
    size_t count = 0;
    TRY(first_look_run(task, is_unsure, error));
    for (size_t query = 0; query < task->queries; query++)
        if (is_unsure[query])
            queries[count++] = (uint32_t)query;
    task->sure = task->queries - count;
    task->is_exact = task->estimates = false;
    task->has_distances = !(method_of(task->options.method)->needs & NEEDS_VECTORS);
    task->radius_bits = COG_RADIUS_NONE;
    task->chunks = 0;
    return count ? run_unsure(task, queries, count, error) : COG_OK;
}

cog_status search_task_run(struct search_task *task, cog_error *error) {
    uint8_t *is_unsure = NULL;
    uint32_t *queries = NULL;
    if (!task->looks_first)
        return run_planned(task, error);
    cog_status status = TAKEN(is_unsure, task->queries + 1, "queries", error);
    THEN(status, TAKEN(queries, task->queries + 1, "queries", error));
    THEN(status, run_first_look(task, is_unsure, queries, error));
    FREE(is_unsure, queries);
    return status;
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
    if (task->looks_first)
        report_number(task->report, "sure_queries", (double)task->sure);
    report_text(task->report, "method", method->name);
    report_number(task->report, "comparisons", (double)task->compared);
}

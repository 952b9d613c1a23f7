#include "jobs/search/search_task.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/threads.h"
#include "estimate/radius.h"
#include "jobs/search/search_short.h"
#include "join/cosine_join.h"
#include "plan/method_table.h"
#include "run/report.h"

enum { VERIFY_GRAIN = 64 };

void search_task_free(struct search_task *task) {
    sparse_matrix_free(&task->vectors);
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
    int expand = slices_knob(options, SLICES_EXPAND), admit = slices_knob(options, SLICES_ADMIT);
    if (expand >= 0 && admit > expand)
        return error_set(error, COG_ERR_USAGE,
                         "--admit %d is beyond --expand %d: lists that are not read admit nothing",
                         admit, expand);
    return COG_OK;
}

bool search_task_has_columns(const cog_index *index) {
    for (size_t part = 0; part < index->parts.manifest.count; part++)
        if (index->parts.segments[part].columns.words)
            return true;
    return false;
}

bool search_task_has_lists(const cog_index *index) {
    for (size_t part = 0; part < index->parts.manifest.count; part++)
        if (index->parts.segments[part].slices.offsets)
            return true;
    return false;
}

/* A recall of 1 is certain: of methods that are named, flat looks at every row, which is what exact
 * does where true cosines decide; slices and bphs are sure of distances alone,
 * columns of those within a radius. */
static cog_status answer_certainly(struct search_task *task, cog_error *error) {
    cog_search_options *options = &task->options;
    const cog_method method = options->method;
    bool of_cosines = is_verified(task) && options->radius_bits == COG_RADIUS_NONE;
    if (options->recall < 1 || method == COG_METHOD_AUTO || method == COG_METHOD_EXACT)
        return COG_OK;
    if (method == COG_METHOD_PSM || (of_cosines && method != COG_METHOD_FLAT) ||
        (method == COG_METHOD_COLUMNS && options->radius_bits == COG_RADIUS_NONE))
        return error_set(error, COG_ERR_USAGE,
                         "a recall of 1 is certain, and the method %s is not: use the method auto "
                         "or %s, or a recall below 1",
                         method_name(method), of_cosines ? "exact" : "flat");
    if (of_cosines) {
        options->method = COG_METHOD_EXACT;
        report_notice(task->report, "signatures cannot certify the cosines of documents: a recall "
                                    "of 1 is answered by the method exact");
    }
    return COG_OK;
}

cog_status search_task_check(struct search_task *task, cog_error *error) {
    cog_search_options *options = &task->options;
    cog_status status =
        method_take_knobs(&options->method, &options->knobs, COG_KNOB_SEARCH, error);
    THEN(status, check_numbers(options, error));
    if (status != COG_OK)
        return status;
    if (options->method == COG_METHOD_LSH || options->method == COG_METHOD_WINDOW ||
        options->method == COG_METHOD_LISTS)
        return error_set(
            error, COG_ERR_USAGE,
            "inverted lists, hash tables and windows join pairs and do not search an index");
    if (task->has_vectors && options->threshold > COSINE_PRECISION)
        options->threshold -= COSINE_PRECISION;
    if (options->method == COG_METHOD_EXACT && !task->has_vectors) {
        if (task->index->has_documents)
            return error_set(
                error, COG_ERR_USAGE,
                "the method exact needs vectors of the index and of the queries: build "
                "the index with them, or use flat or slices");
        options->method = COG_METHOD_FLAT; /* exact in Hamming distance */
    }
    if (options->method == COG_METHOD_EXACT && options->radius_bits != COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "a radius is about signatures, and the method exact uses none: give a "
                         "threshold, or use flat or slices");
    if (options->method == COG_METHOD_EXACT && !options->verify)
        return error_set(error, COG_ERR_USAGE,
                         "the method exact computes true similarities: leave --no-verify out");
    if (options->method == COG_METHOD_SLICES && !search_task_has_lists(task->index))
        return error_set(error, COG_ERR_USAGE,
                         "the index has no slice lists: build it with --method slices");
    if (options->method == COG_METHOD_COLUMNS && !search_task_has_columns(task->index))
        return error_set(error, COG_ERR_USAGE,
                         "the index has no columns: build it with --method columns");
    status = search_short_check(options, task->index, error);
    return status == COG_OK ? answer_certainly(task, error) : status;
}

struct signature_search search_task_signatures(const struct search_task *task, cog_method method) {
    const cog_search_options *options = &task->options;
    unsigned bits = index_bits(task->index);
    struct signature_search search = {.index = task->index,
                                      .queries = &task->signatures,
                                      .weights = task->weights,
                                      .method = method,
                                      .k = options->k,
                                      .radius_bits = options->radius_bits,
                                      .knobs = &options->knobs,
                                      .step = task->step,
                                      .certain = options->recall >= 1,
                                      .recall = options->recall,
                                      .first = options->first,
                                      .flips = options->method == COG_METHOD_PSM
                                                   ? (size_t)knob_or(&options->knobs, PSM_FLIPS, 0)
                                                   : 0,
                                      .memory_bytes = task->run ? task->run->memory_bytes : 0,
                                      .threads = task->threads};
    if (asks_within(options)) {
        search.k = 0;
        if (options->radius_bits == COG_RADIUS_NONE)
            search.radius_bits =
                is_verified(task)
                    ? radius_for_recall(bits, bit_flip_probability_cosine(options->threshold),
                                        options->recall)
                    : cog_radius_of_cosine(options->threshold, bits);
        search.radius_bits = search.radius_bits < bits ? search.radius_bits : bits;
        return search;
    }
    search_effort_of(method, task->step, options->k, task->index->parts.rows, &search.effort);
    if (is_verified(task))
        search.k = search.effort.candidates;
    return search;
}

/* ---- Answering ------------------------------------------------------------------------------- */

/* Cuts lists to k hits (0: all) and empties those of empty queries. */
static void trim(const struct search_task *task, struct hit_lists *lists) {
    size_t k = task->options.k, begin = 0, at = 0;
    for (size_t query = 0; query < lists->queries; query++) {
        size_t end = lists->offsets[query + 1], count = end - begin;
        if (k && count > k)
            count = k;
        if (task->is_empty && task->is_empty[query])
            count = 0;
        for (size_t i = 0; i < count; i++)
            lists->items[at++] = lists->items[begin + i];
        begin = end;
        lists->offsets[query + 1] = at;
    }
}

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
    struct query_spread spread;
    cog_status status = query_spread_init(&spread, &verification->task->vectors, error);
    for (size_t query = begin; query < end && status == COG_OK; query++)
        status = verify_query(verification, &spread, query, error);
    free(spread.values);
    return status;
}

static cog_status verify(const struct search_task *task, struct hit_lists *lists,
                         cog_error *error) {
    struct verification verification = {
        task, lists, memory_zeroed_array(lists->queries + 1, sizeof *verification.counts)};
    if (!verification.counts)
        return error_memory(error, lists->queries * sizeof *verification.counts, "queries");
    cog_status status = parallel_for(task->threads, lists->queries, VERIFY_GRAIN, verify_queries,
                                     &verification, error);
    size_t begin = 0, at = 0;
    for (size_t query = 0; query < lists->queries && status == COG_OK; query++) {
        for (size_t i = 0; i < verification.counts[query]; i++)
            lists->items[at++] = lists->items[begin + i];
        begin = lists->offsets[query + 1];
        lists->offsets[query + 1] = at;
    }
    free(verification.counts);
    return status;
}

static cog_status run_signatures(struct search_task *task, cog_error *error) {
    struct signature_search search = search_task_signatures(task, task->options.method);
    TRY(search_signatures(&search, &task->hits, error));
    task->candidates = task->hits.offsets[task->queries];
    task->radius_bits = search.k == 0 ? search.radius_bits : COG_RADIUS_NONE;
    task->has_distances = true;
    task->estimates = !is_verified(task);
    task->chunks = search.chunks;
    task->is_exact = search.is_exact && !task->has_vectors;
    return is_verified(task) ? verify(task, &task->hits, error) : COG_OK;
}

cog_status search_task_run(struct search_task *task, cog_error *error) {
    cog_status status;
    hit_lists_free(&task->hits);
    if (task->options.method == COG_METHOD_EXACT) {
        size_t k = task->options.threshold > 0 ? 0 : task->options.k;
        task->is_exact = true;
        task->estimates = task->has_distances = false;
        status = search_exact(task, &task->vectors, k, &task->hits, error);
    } else {
        status = run_signatures(task, error);
    }
    if (status == COG_OK)
        trim(task, &task->hits);
    return status;
}

void search_task_report(const struct search_task *task) {
    if (task->options.method != COG_METHOD_EXACT) {
        report_number(task->report, "candidates", (double)task->candidates);
        if (task->radius_bits != COG_RADIUS_NONE)
            report_number(task->report, "radius_bits", task->radius_bits);
    }
    if (task->chunks)
        report_number(task->report, "chunks", (double)task->chunks);
    report_text(task->report, "method", method_name(task->options.method));
    report_number(task->report, "queries", (double)task->queries);
    report_number(task->report, "matches", (double)task->hits.offsets[task->queries]);
}

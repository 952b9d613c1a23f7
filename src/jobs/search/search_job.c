/* Search as a job: from queries to hits with ids. */
#include "jobs/search/search_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "input/npy.h"
#include "jobs/index/index_languages.h"
#include "jobs/result_table.h"
#include "jobs/search/search_task.h"
#include "jobs/search/set_search.h"
#include "run/job.h"

void cog_search_options_init(cog_search_options *options) {
    *options = (cog_search_options){
        .k = 10, .radius_bits = COG_RADIUS_NONE, .recall = 0.95, .verify = true};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { SUMS_MAX_BYTES = 256 << 20 }; /* above this, queries are searched without their weights */

/* Checks the memory of queries in addition to an index; a mapped index is not counted, one in
 * memory is. */
static cog_status check_memory(const cog_index *index, double query_bytes,
                               const cog_run_options *run, cog_report *report, cog_error *error) {
    double index_bytes = index->folder || index->streamed ? 0 : index_memory_bytes(index);
    return memory_budget_check(MEMORY_BASE_BYTES + index_bytes + query_bytes, run, report, error);
}

/* Memory of queries as terms and vectors, then as signatures with margins. */
static double bytes_of_texts(const cog_index *index, const cog_search_options *options,
                             double text_bytes) {
    enum { TEXT_BYTES = 300 }; /* per short query */
    double bytes = text_bytes * MEMORY_OF_TERMS;
    double sums = text_bytes / TEXT_BYTES * index_bits(index) * sizeof(float) *
                  (double)query_parts_signings(index);
    if (search_task_wants_margins(index, options))
        bytes += sums < SUMS_MAX_BYTES ? sums : SUMS_MAX_BYTES;
    return bytes;
}

/* Memory of the hit lists, doubled while recall is measured. */
static double bytes_of_hits(const cog_search_options *options, double queries) {
    return options->radius_bits == COG_RADIUS_NONE
               ? 2 * queries * (double)options->k * sizeof(struct match)
               : 0;
}

/* ---- Searching ------------------------------------------------------------------------------- */

void search_report_statistics(const cog_index *index, cog_report *report) {
    cog_index_info info;
    cog_index_describe(index, &info);
    if (!info.documents)
        return;
    report_number(report, "statistics_documents", (double)info.counted_documents);
    report_number(report, "outdated_segments", (double)info.outdated_segments);
}

/* Answers and measures; moves the hits to the result. */
static cog_status answer(struct search_task *task, cog_hits *hits, cog_error *error) {
    progress_show("searching");
    uint64_t start = clock_ns();
    TRY(search_task_run(task, error));
    report_stage(task->report, "searching", clock_seconds_since(start));
    TRY(search_task_measure(task, error));
    search_task_report(task);
    report_number(task->report, "queries", (double)task->queries);
    report_number(task->report, "matches", (double)task->hits.offsets[task->queries]);
    search_report_statistics(task->index, task->report);
    hits->index = task->index;
    hits->lists = task->hits;
    hits->estimates = task->estimates;
    hits->has_distances = task->has_distances;
    task->hits = (struct hit_lists){0};
    return COG_OK;
}

static struct search_task task_of(const cog_index *index, const cog_search_options *options,
                                  const cog_run_options *run, cog_report *report) {
    return (struct search_task){.index = index,
                                .options = *options,
                                .run = run,
                                .threads = threads_resolve(run ? run->threads : 0),
                                .report = report};
}

static cog_status check_search(const cog_index *index, const void *queries,
                               const cog_search_options *options, cog_hits **result,
                               cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(queries, "queries", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "hits", error));
    TRY(index_prepare(index, error));
    return options_check_reserved(options->reserved, 4, "search", error);
}

cog_status cog_index_search_signatures(const cog_index *index, const cog_signatures *queries,
                                       const float *weights, const cog_search_options *options,
                                       const cog_run_options *run, cog_hits **result,
                                       cog_report *report, cog_error *error) {
    TRY(check_search(index, queries, options, result, error));
    struct search_task task = task_of(index, options, run, report);
    task.queries = queries->file.view.rows;
    task.has_margins = weights != NULL;
    if (queries->file.view.bits != index_bits(index))
        return error_set(error, COG_ERR_USAGE,
                         "queries of %u bits for an index of signatures of %u bits",
                         queries->file.view.bits, index_bits(index));
    struct job job;
    job_begin(&job, run, report);
    cog_status status = query_parts_given(&task.parts, &queries->file.view, weights, error);
    THEN(status, search_task_check(&task, error));
    THEN(status, search_task_choose(&task, error));
    double query_bytes = bytes_of_hits(options, (double)task.queries);
    if (status == COG_OK)
        query_bytes += search_task_bytes(&task);
    THEN(status, check_memory(index, query_bytes, run, report, error));
    cog_hits *hits = NULL;
    THEN(status, TAKEN_ZEROED(hits, 1, "hits", error));
    THEN(status, answer(&task, hits, error));
    search_task_free(&task);
    job_end(&job);
    return HAND_OUT(status, hits, cog_hits_free, result);
}

/* Signs the queries, with margins if lists are read by them. */
static cog_status sign_queries(struct search_task *task, const struct corpus *corpus,
                               cog_error *error) {
    return query_parts_sign(&task->parts, task->index, corpus, task->has_margins, task->threads,
                            error);
}

static bool have_room_for_margins(const struct search_task *task, size_t queries) {
    const cog_index *index = task->index;
    size_t size_bytes, signings = query_parts_signings(index);
    return search_task_wants_margins(index, &task->options) &&
           size_multiply(queries, signings * index_bits(index) * sizeof(float), &size_bytes) &&
           size_bytes <= SUMS_MAX_BYTES;
}

static cog_status search_corpus(struct search_task *task, const struct corpus *corpus,
                                cog_hits *hits, cog_error *error) {
    const cog_index *index = task->index;
    uint8_t *is_empty;
    TAKE(is_empty, corpus->rows, "queries", error);
    task->queries = corpus->rows;
    task->has_vectors = index->has_vectors;
    task->is_empty = is_empty;
    task->has_margins = have_room_for_margins(task, corpus->rows);
    cog_status status = search_task_check(task, error);
    THEN(status, search_task_choose(task, error));
    THEN(status, index_mark_empty(index, corpus, is_empty, error));
    if (status == COG_OK && task->has_vectors)
        status = query_parts_weigh(&task->parts, index, corpus, task->threads, error);
    if (status == COG_OK && search_task_needs_signatures(task))
        status = sign_queries(task, corpus, error);
    THEN(status, answer(task, hits, error));
    free(is_empty);
    return status;
}

cog_status cog_index_search(const cog_index *index, cog_documents *queries,
                            const cog_search_options *options, const cog_run_options *run,
                            cog_hits **result, cog_report *report, cog_error *error) {
    TRY(check_search(index, queries, options, result, error));
    if (!index->has_documents)
        return error_set(
            error, COG_ERR_USAGE,
            "the index contains only signatures and does not record how they were made: give the "
            "queries as signatures (.npy)");
    struct search_task task = task_of(index, options, run, report);
    struct query_languages languages;
    struct corpus_options reading = {.terms = &index->terms,
                                     .want_frequencies = true,
                                     .as_sets = index_is_of_sets(index),
                                     .takes_foreign = index->measure == COG_MEASURE_COSINE};
    TRY(index_check_lexicon(index, queries->foreign, NULL, error));
    task.counted_from = queries->foreign ? COG_THRESHOLD_ACROSS : 0;
    query_languages_watch(&languages, index, queries->foreign, &reading);
    double text_bytes = (double)ingest_text_bytes(queries);
    if (queries->foreign)
        text_bytes *= INGEST_PROJECTED_SHARE;
    TRY(check_memory(index,
                     bytes_of_texts(index, options, text_bytes) +
                         ingest_projection_bytes(queries, task.threads),
                     run, report, error));
    cog_hits *hits;
    TAKE_ZEROED(hits, 1, "hits", error);
    struct job job;
    job_begin(&job, run, report);
    hits->has_query_ids = true;
    cog_status status = corpus_read(&hits->queries, queries, &reading, run, report, error);
    THEN(status, query_languages_judge(&languages, error));
    hits->index = index;
    THEN(status, index_is_of_sets(index)
                     ? set_search_corpus(index, options, &hits->queries, task.threads, &hits->lists,
                                         report, error)
                     : search_corpus(&task, &hits->queries, hits, error));
    search_task_free(&task);
    job_end(&job);
    return HAND_OUT(status, hits, cog_hits_free, result);
}

/* ---- Hits ------------------------------------------------------------------------------------ */

void cog_hits_free(cog_hits *hits) {
    if (!hits)
        return;
    corpus_free(&hits->queries);
    hit_lists_free(&hits->lists);
    free(hits);
}

size_t cog_hits_count(const cog_hits *hits) {
    return hits->lists.offsets[hits->lists.queries];
}

size_t cog_hits_queries(const cog_hits *hits) {
    return hits->lists.queries;
}

size_t cog_hits_first(const cog_hits *hits, uint32_t query) {
    return hits->lists.offsets[query < hits->lists.queries ? query : hits->lists.queries];
}

cog_hit cog_hits_get(const cog_hits *hits, size_t index) {
    if (index >= cog_hits_count(hits))
        return (cog_hit){0};
    const struct match *match = &hits->lists.items[index];
    return (cog_hit){.query = match->a,
                     .row = match->b,
                     .rank = (uint32_t)(index - hits->lists.offsets[match->a] + 1),
                     .distance = hits->has_distances ? (int)match->distance : -1,
                     .similarity = (double)match->similarity};
}

size_t cog_hits_read(const cog_hits *hits, size_t first, size_t count, cog_hit *items) {
    size_t read = 0;
    for (; read < count && first + read < cog_hits_count(hits); read++)
        items[read] = cog_hits_get(hits, first + read);
    return read;
}

bool cog_hits_are_estimates(const cog_hits *hits) {
    return hits->estimates;
}

const char *cog_hits_query_id(const cog_hits *hits, uint32_t query, size_t *size) {
    struct bytes_view id = {NULL, 0};
    if (hits->has_query_ids && query < hits->lists.queries)
        id = corpus_id(&hits->queries, query);
    *size = id.size;
    return id.data;
}

uint64_t cog_hits_position(const cog_hits *hits, uint32_t query) {
    if (query >= hits->lists.queries)
        return 0;
    return query < hits->queries.rows ? hits->queries.items[query].record : query;
}

const cog_index *cog_hits_index(const cog_hits *hits) {
    return hits->index;
}

cog_status cog_hits_write(const cog_hits *hits, cog_output_format format, const char *path,
                          cog_error *error) {
    TRY(check_given(hits, "hits", error));
    TRY(check_given(path, "path", error));
    const struct result_column columns[] = {
        {"query", RESULT_ID},
        {"rank", RESULT_NUMBER},
        {"id", RESULT_ID},
        {hits->estimates ? "estimate" : "similarity", RESULT_REAL},
        {"distance", RESULT_DISTANCE}};
    struct result_table table = {0};
    TRY(check_enum(format, COG_OUTPUT_NPY + 1, "output format", error));
    cog_status status =
        result_table_open(&table, columns, 5, cog_hits_count(hits), format, path, error);
    for (size_t i = 0; i < cog_hits_count(hits) && status == COG_OK; i++) {
        cog_hit hit = cog_hits_get(hits, i);
        struct result_cell cells[] = {{.number = hit.query},
                                      {.number = hit.rank},
                                      {.number = hit.row},
                                      {.number = hit.similarity},
                                      {.number = hit.distance}};
        cells[0].text.data = cog_hits_query_id(hits, hit.query, &cells[0].text.size);
        cells[2].text.data = cog_index_id(hits->index, hit.row, &cells[2].text.size);
        status = result_table_add(&table, cells, error);
    }
    return result_table_close(&table, status, error);
}

/* ---- Weights --------------------------------------------------------------------------------- */

struct cog_weights {
    struct npy_array array;
    char *path;
};

cog_status cog_weights_open(const char *path, cog_weights **result, cog_error *error) {
    TRY(check_given(path, "path", error));
    TRY(check_given(result, "weights", error));
    cog_weights *weights;
    TAKE_ZEROED(weights, 1, "margins", error);
    weights->path = strdup(path);
    cog_status status = weights->path ? npy_open(path, NPY_FLOAT32, &weights->array, error)
                                      : error_memory(error, strlen(path), "margins");
    return HAND_OUT(status, weights, cog_weights_free, result);
}

cog_status cog_weights_of(const cog_weights *weights, const cog_signatures *signatures,
                          const float **values, cog_error *error) {
    TRY(check_given(weights, "weights", error));
    TRY(check_given(signatures, "signatures", error));
    TRY(check_given(values, "values", error));
    const struct npy_array *array = &weights->array;
    if (array->rows != cog_signatures_rows(signatures) ||
        array->columns != cog_signatures_bits(signatures))
        return error_set(error, COG_ERR_USAGE,
                         "%s: weights of %zu row%s and %zu bits for %zu signature%s of %u bits",
                         weights->path, array->rows, plural(array->rows, "", "s"), array->columns,
                         cog_signatures_rows(signatures),
                         plural(cog_signatures_rows(signatures), "", "s"),
                         cog_signatures_bits(signatures));
    if ((uintptr_t)array->data % sizeof(float))
        return error_set(error, COG_ERR_INPUT,
                         "%s: the numbers are not aligned; save the array again with numpy",
                         weights->path);
    *values = (const float *)array->data;
    return COG_OK;
}

void cog_weights_free(cog_weights *weights) {
    if (!weights)
        return;
    npy_close(&weights->array);
    free(weights->path);
    free(weights);
}

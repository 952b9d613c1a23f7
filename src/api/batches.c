/* Batches: the public functions of cognate_batch.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/arrow_table.h"
#include "base/arguments.h"
#include "cluster/clusters.h"
#include "collection/sets/document_sets.h"
#include "collection/statistics_job.h"
#include "input/npy.h"
#include "jobs/lexicon/lexicon_job.h"
#include "jobs/pairs/verify_pairs.h"
#include "run/job.h"
#include "search/lsh/lsh_batch.h"
#include "search/lsh/lsh_plan.h"

/* ---- Bytes ----------------------------------------------------------------------------------- */

static cog_status hand_out_bytes(struct buffer *buffer, cog_status status, uint8_t **bytes,
                                 size_t *size) {
    if (status != COG_OK) {
        buffer_free(buffer);
        return status;
    }
    *bytes = (uint8_t *)buffer->data;
    *size = buffer->size;
    return COG_OK;
}

cog_status cog_statistics_to_bytes(const cog_statistics *statistics, uint8_t **bytes, size_t *size,
                                   cog_error *error) {
    struct buffer buffer = {0};
    TRY(check_given(statistics, "statistics", error));
    TRY(check_given(bytes, "bytes", error));
    TRY(check_given(size, "size", error));
    return hand_out_bytes(
        &buffer, statistics_save_memory(statistics->counts, &statistics->terms, &buffer, error),
        bytes, size);
}

cog_status cog_statistics_from_bytes(const uint8_t *bytes, size_t size,
                                     const cog_term_options *terms, cog_statistics **result,
                                     cog_error *error) {
    cog_statistics *statistics;
    TRY(check_given(bytes, "bytes", error));
    TRY(check_given(result, "statistics", error));
    TAKE_ZEROED(statistics, 1, "statistics", error);
    cog_status status =
        statistics_load_memory(bytes, size, &statistics->counts, &statistics->terms, error);
    if (terms)
        THEN(status, options_check_statistics(terms, statistics, error));
    return HAND_OUT(status, statistics, statistics_release, result);
}

cog_status cog_lexicon_to_bytes(const cog_lexicon *lexicon, uint8_t **bytes, size_t *size,
                                cog_error *error) {
    struct buffer buffer = {0};
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(bytes, "bytes", error));
    TRY(check_given(size, "size", error));
    return hand_out_bytes(&buffer, lexicon_save_memory(&lexicon->table, &buffer, error), bytes,
                          size);
}

cog_status cog_lexicon_from_bytes(const uint8_t *bytes, size_t size, cog_lexicon **result,
                                  cog_error *error) {
    cog_lexicon *lexicon;
    TRY(check_given(bytes, "bytes", error));
    TRY(check_given(result, "lexicon", error));
    TAKE_ZEROED(lexicon, 1, "a lexicon", error);
    cog_status status =
        lexicon_load_memory("a lexicon in memory", bytes, size, &lexicon->table, error);
    return HAND_OUT(status, lexicon, cog_lexicon_free, result);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

_Static_assert((int)COG_FLIP_ACROSS == (int)LSH_FLIP_ACROSS, "modes of flips");

cog_status cog_key_plan_bands(double threshold, unsigned values, unsigned value_bits,
                              double *recall, cog_key_plan *plan, cog_error *error) {
    TRY(check_given(recall, "recall", error));
    TRY(check_given(plan, "plan", error));
    if (!(threshold > 0 && threshold <= 1) || !(*recall > 0 && *recall <= 1))
        return error_set(error, COG_ERR_USAGE,
                         "a threshold of %g and a recall of %g: choose above 0 and at most 1",
                         threshold, *recall);
    if (values == 0 || value_bits == 0 || value_bits > 64)
        return error_set(error, COG_ERR_USAGE,
                         "%u values of %u bits: give 1 or more, of 1 to 64 bits", values,
                         value_bits);
    *plan = (cog_key_plan){.value_bits = value_bits};
    *recall = band_plan(threshold, *recall, value_bits, values, &plan->band_values, &plan->tables);
    return COG_OK;
}

static cog_status take_plan(const cog_key_plan *plan, unsigned bits, bool has_margins,
                            struct lsh_options *options, cog_error *error) {
    TRY(options_check_reserved(plan->reserved, 4, "key_plan", error));
    TRY(check_enum(plan->flip_mode, COG_FLIP_ACROSS + 1, "flip mode", error));
    *options = (struct lsh_options){.key_bits = plan->key_bits,
                                    .tables = plan->tables,
                                    .flips = plan->flips,
                                    .flip_mode = (enum lsh_flip_mode)plan->flip_mode,
                                    .band_values = plan->band_values,
                                    .value_bits = plan->value_bits,
                                    .seed = plan->seed};
    return lsh_options_check(options, bits, has_margins, error);
}

cog_status cog_table_keys(const cog_signatures *signatures, const float *margins,
                          const uint32_t *term_counts, const cog_key_plan *plan, bool flipped,
                          const cog_run_options *run, struct ArrowArrayStream *stream,
                          cog_error *error) {
    TRY(check_given(signatures, "signatures", error));
    TRY(check_given(plan, "plan", error));
    TRY(check_given(stream, "stream", error));
    const struct signatures_view *view = &signatures->file.view;
    const struct method_rows rows = {.signatures = view, .margins = margins};
    struct lsh_options options;
    struct row_key *keys = NULL;
    struct arrow_table table = {0};
    struct job job;
    TRY(take_plan(plan, view->bits, margins != NULL, &options, error));
    job_begin(&job, run, NULL);
    job_stage(&job, "keys");
    cog_status status = lsh_keys_of_rows(&rows, term_counts, &options, flipped, job.threads, &keys,
                                         &table.rows, error);
    job_end(&job);
    if (status == COG_OK) {
        int64_t *row = arrow_table_int64(&table, "row");
        int32_t *number = arrow_table_int32(&table, "table");
        int64_t *key = arrow_table_int64(&table, "key");
        for (size_t i = 0; i < table.rows && key; i++) {
            row[i] = keys[i].row;
            number[i] = (int32_t)keys[i].table;
            key[i] = (int64_t)keys[i].key;
        }
        status = arrow_table_finish(&table, stream, error);
    }
    free(keys);
    return status;
}

/* ---- Measures -------------------------------------------------------------------------------- */

void cog_verify_options_init(cog_verify_options *options, cog_measure measure) {
    cog_pairs_options pairs;
    cog_pairs_options_init(&pairs, measure);
    *options = (cog_verify_options){.measure = measure,
                                    .terms = pairs.sign.terms,
                                    .weights = pairs.sign.weights,
                                    .short_texts = measure == COG_MEASURE_JACCARD};
}

static cog_status check_pairs(const int64_t *a, const int64_t *b, size_t count, const void *results,
                              const char *name, cog_error *error) {
    if (count == 0)
        return COG_OK;
    TRY(check_given(a, "a", error));
    TRY(check_given(b, "b", error));
    return check_given(results, name, error);
}

cog_status cog_verify_pairs(cog_documents *documents, cog_documents *against, const int64_t *a,
                            const int64_t *b, size_t count, const cog_verify_options *options,
                            const cog_run_options *run, double *similarities, cog_report *report,
                            cog_error *error) {
    cog_documents *const both[2] = {documents, against};
    const struct given_pairs pairs = {a, b, count};
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "options", error));
    TRY(options_check_reserved(options->reserved, 4, "verify", error));
    TRY(check_enum(options->measure, COG_MEASURE_CONTAINMENT + 1, "measure", error));
    TRY(check_pairs(a, b, count, similarities, "similarities", error));
    if (options->statistics)
        TRY(options_check_statistics(&options->terms, options->statistics, error));
    return verify_pairs(both, &pairs, options, run, similarities, report, error);
}

static cog_status check_row(int64_t row, const struct signatures_view *view, const char *name,
                            cog_error *error) {
    return row >= 0 && (uint64_t)row < view->rows
               ? COG_OK
               : error_set(error, COG_ERR_USAGE, "row %lld of %s, which has %zu rows",
                           (long long)row, name, view->rows);
}

cog_status cog_verify_distances(const cog_signatures *signatures, const cog_signatures *against,
                                const int64_t *a, const int64_t *b, size_t count,
                                uint32_t *distances, cog_error *error) {
    TRY(check_given(signatures, "signatures", error));
    TRY(check_pairs(a, b, count, distances, "distances", error));
    const struct signatures_view *first = &signatures->file.view;
    const struct signatures_view *second = against ? &against->file.view : first;
    TRY(signatures_check(first, against ? second : NULL, error));
    for (size_t i = 0; i < count; i++) {
        TRY(check_row(a[i], first, "the signatures", error));
        TRY(check_row(b[i], second, against ? "the second signatures" : "the signatures", error));
        distances[i] = hamming_distance(signature_row(first, (size_t)a[i]),
                                        signature_row(second, (size_t)b[i]), first->bits);
    }
    return COG_OK;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static cog_status take_pairs(size_t rows, const int64_t *a, const int64_t *b,
                             const double *similarities, size_t count, struct match_list *matches,
                             cog_error *error) {
    GROW(matches->items, matches->capacity, count + 1, "pairs", error);
    for (size_t i = 0; i < count; i++) {
        if (a[i] < 0 || b[i] < 0 || (uint64_t)a[i] >= rows || (uint64_t)b[i] >= rows)
            return error_set(error, COG_ERR_USAGE,
                             "pair %zu is of rows %lld and %lld, and there are %zu rows", i,
                             (long long)a[i], (long long)b[i], rows);
        if (similarities && isnan(similarities[i]))
            return error_set(error, COG_ERR_USAGE,
                             "pair %zu has no similarity (NaN): leave out pairs of skipped rows, "
                             "and pairs below the threshold",
                             i);
        if (a[i] == b[i])
            continue;
        matches->items[matches->count++] =
            (struct match){.a = (uint32_t)(a[i] < b[i] ? a[i] : b[i]),
                           .b = (uint32_t)(a[i] < b[i] ? b[i] : a[i]),
                           .similarity = similarities ? (float)similarities[i] : 1};
    }
    return COG_OK;
}

/* Rows of clusters of two or more, by cluster, then row, numbered on from 0. */
static cog_status export_clusters(const struct clusters *clusters, struct ArrowArrayStream *stream,
                                  cog_error *error) {
    struct arrow_table table = {0};
    uint32_t *sizes = NULL, *places;
    size_t next = 0, number = 0;
    TAKE_ZEROED(sizes, clusters->count + 1, "clusters", error);
    for (size_t row = 0; row < clusters->rows; row++)
        sizes[clusters->cluster[row]]++;
    for (size_t i = 0; i < clusters->count; i++)
        table.rows += sizes[i] > 1 ? sizes[i] : 0;
    int64_t *cluster = arrow_table_int64(&table, "cluster");
    int64_t *rows = arrow_table_int64(&table, "row");
    int64_t *representatives = arrow_table_int64(&table, "representative");
    double *similarities = arrow_table_double(&table, "similarity");
    uint8_t *kept = arrow_table_bool(&table, "kept");
    places = kept ? calloc(2 * clusters->count + 2, sizeof *places) : NULL;
    for (size_t i = 0; i < clusters->count && places; i++) {
        places[2 * i] = (uint32_t)next;
        places[2 * i + 1] = (uint32_t)number;
        next += sizes[i] > 1 ? sizes[i] : 0;
        number += sizes[i] > 1;
    }
    for (size_t row = 0; row < clusters->rows && places; row++) {
        const size_t own = clusters->cluster[row];
        if (sizes[own] < 2)
            continue;
        size_t at = places[2 * own]++;
        cluster[at] = places[2 * own + 1];
        rows[at] = (int64_t)row;
        representatives[at] = clusters->representative[row];
        similarities[at] = (double)clusters->similarity[row];
        if (clusters->representative[row] == row)
            kept[at / 8] |= (uint8_t)(1u << at % 8);
    }
    table.out_of_memory |= !places;
    free(places);
    free(sizes);
    return arrow_table_finish(&table, stream, error);
}

cog_status cog_clusters_of_pairs(size_t rows, const int64_t *a, const int64_t *b,
                                 const double *similarities, size_t count, const uint64_t *keys,
                                 cog_grouping grouping, struct ArrowArrayStream *stream,
                                 cog_error *error) {
    struct match_list matches = {0};
    struct clusters clusters = {0};
    TRY(check_given(stream, "stream", error));
    TRY(check_enum(grouping, COG_GROUP_CONNECTED + 1, "grouping", error));
    TRY(check_pairs(a, b, count, a, "a", error));
    if (rows >= UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "%zu rows: give fewer than 4 billion", rows);
    cog_status status = take_pairs(rows, a, b, similarities, count, &matches, error);
    THEN(status,
         clusters_build(&matches, rows, keys,
                        grouping == COG_GROUP_CONNECTED ? CLUSTERS_CONNECTED : CLUSTERS_STRICT,
                        &clusters, error));
    match_list_free(&matches);
    THEN(status, export_clusters(&clusters, stream, error));
    clusters_free(&clusters);
    return status;
}

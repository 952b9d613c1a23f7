/* An index as a job builds it in memory, and what it tells of itself. */
#include "jobs/index/index_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "index/numbered_ids.h"
#include "input/npy.h"
#include "plan/method_table.h"
#include "run/job.h"
#include "run/report.h"
#include "search/bphs/bphs_method.h"
#include "search/psm/psm_method.h"
#include "search/slices/slices_method.h"

void cog_index_options_init(cog_index_options *options) {
    *options = (cog_index_options){.method = COG_METHOD_AUTO, .radius_bits = 3, .vectors = true};
    cog_sign_options_init(&options->sign, COG_SIGNATURE_RP);
    options->sign.weights.min_collection_frequency = 1;
}

void index_forget_parts(cog_index *index) {
    for (size_t i = 0; index->memory && i < index->parts.manifest.count; i++)
        segment_memory_free(&index->memory[i]);
    free(index->memory);
    free(index->has_whole_vectors);
    index->memory = NULL;
    index->has_whole_vectors = NULL;
    index_segments_close(&index->parts);
}

void cog_index_close(cog_index *index) {
    if (!index)
        return;
    index_forget_parts(index);
    cog_statistics_free(index->statistics);
    term_numbers_free(index->columns);
    free(index->folder);
    free(index);
}

/* ---- Building -------------------------------------------------------------------------------- */

static bool is_short(cog_method method) {
    return method == COG_METHOD_PSM || method == COG_METHOD_BPHS;
}

static cog_status check_options(cog_index_options *options, bool documents, cog_error *error) {
    TRY(method_take_knobs(&options->method, &options->knobs, COG_KNOB_BUILD, error));
    if (options->method == COG_METHOD_EXACT)
        return error_set(
            error, COG_ERR_USAGE,
            "an index needs nothing for the method exact but its vectors: choose flat, "
            "slices or columns");
    if (options->method == COG_METHOD_LSH || options->method == COG_METHOD_WINDOW ||
        options->method == COG_METHOD_LISTS)
        return error_set(
            error, COG_ERR_USAGE,
            "inverted lists, hash tables and windows join pairs and do not search an index");
    if (documents && options->sign.signature.kind == COG_SIGNATURE_MINHASH)
        return error_set(error, COG_ERR_USAGE,
                         "minhash signatures do not tell a cosine: use rp, simhash or topsig");
    return COG_OK;
}

static unsigned slice_bits_of(const cog_index_options *options) {
    return options->method == COG_METHOD_SLICES
               ? (unsigned)knob_or(&options->knobs, SLICES_WIDTH, 0)
               : 0;
}

static struct method_size size_of(const cog_index_options *options, size_t rows, unsigned bits) {
    return (struct method_size){.rows = rows, .bits = bits, .radius_bits = options->radius_bits};
}

static cog_status record_tables(const cog_index_options *options, unsigned bits,
                                struct settings *settings, cog_error *error) {
    struct method_size size = size_of(options, 0, bits);
    cog_knobs knobs = options->knobs;
    TRY(settings_set_u64(settings, "radius", options->radius_bits, error));
    if (options->method == COG_METHOD_PSM)
        return settings_set_u64(settings, "header bits", knob_or(&knobs, PSM_HEADER, 0), error);
    TRY(bphs_method.settings(&size, &knobs, error));
    TRY(settings_set_u64(settings, "blocks", knobs.values[BPHS_BLOCKS], error));
    return settings_set_u64(settings, "chosen blocks", knobs.values[BPHS_CHOOSE], error);
}

/* A streamed index has its signatures and knows what searches are to build. */
static cog_status prepare_stream(cog_index *index, cog_index_options *options,
                                 const struct signatures_view *rows, cog_error *error) {
    const struct search_method *method = method_of(options->method);
    struct method_size size = size_of(options, rows->rows, rows->bits);
    index->is_streamed = options->streamed && is_short(options->method);
    if (!index->is_streamed)
        return COG_OK;
    index->stream_knobs = options->knobs;
    index->stream_knobs.method = options->method;
    index->stream_radius_bits = options->radius_bits;
    options->method = COG_METHOD_FLAT;
    return method->settings(&size, &index->stream_knobs, error);
}

static cog_status record_method(const cog_index_options *options, unsigned bits,
                                struct settings *settings, cog_error *error) {
    cog_status status =
        settings_set_text(settings, "index method", method_name(options->method), error);
    THEN(status, settings_set_u64(settings, "slice bits", slice_bits_of(options), error));
    if (status == COG_OK && is_short(options->method))
        status = record_tables(options, bits, settings, error);
    return status;
}

/* Signatures in memory, lists, and what building them takes for a while. */
static double signatures_memory(const struct signatures_view *rows,
                                const cog_index_options *options, unsigned threads) {
    double bytes = (double)rows->rows * (double)rows->stride_bytes;
    if (options->method == COG_METHOD_FLAT || rows->rows == 0)
        return bytes;
    if (options->method == COG_METHOD_COLUMNS) /* groups that are not full; order and clusters */
        return 2.1 * bytes + 26 * (double)rows->rows;
    if (is_short(options->method)) {
        struct method_size size = size_of(options, rows->rows, rows->bits);
        struct method_prediction prediction = {0};
        method_of(options->method)->predict(&size, &options->knobs, &prediction);
        return bytes + prediction.build_bytes;
    }
    return bytes + slice_lists_build_bytes(rows->rows, rows->bits, slice_bits_of(options), threads);
}

/* What must fit when the parts of an index come together again. */
static cog_status record_documents(const cog_index *index, const cog_index_options *options,
                                   struct settings *settings, cog_error *error) {
    cog_status status = options_record_signing(&options->sign, settings, error);
    THEN(status, settings_set_u64(settings, "vectors", options->vectors, error));
    return status == COG_OK ? index_record_statistics(index, settings, error) : status;
}

/* After the settings and the statistics are known: everything that follows from them. */
cog_status index_interpret_settings(cog_index *index, cog_error *error) {
    const struct settings *settings = &index->parts.manifest.settings;
    const char *kind = "";
    uint64_t vectors = 0;
    settings_get_text(settings, "signature", &kind);
    index->has_documents = strcmp(kind, "given") != 0;
    if (!index->has_documents)
        return COG_OK;
    settings_get_u64(settings, "vectors", &vectors);
    index->has_vectors = vectors;
    cog_status status = options_read_signing(settings, &index->sign, error);
    THEN(status, options_terms(&index->sign.terms, &index->terms, error));
    THEN(status, options_weighting(&index->sign.weights, &index->weighting, error));
    return status;
}

cog_status index_take_draft(cog_index *index, struct segment_draft *draft, cog_error *error) {
    struct manifest *manifest = &index->parts.manifest;
    size_t count = manifest->count;
    struct segment *segments =
        realloc(index->parts.segments, (count + 1) * sizeof *index->parts.segments);
    if (segments)
        index->parts.segments = segments;
    struct segment_memory *memory = realloc(index->memory, (count + 1) * sizeof *index->memory);
    if (memory)
        index->memory = memory;
    if (!segments || !memory ||
        !memory_grow((void **)&manifest->entries, &manifest->capacity, count + 1,
                     sizeof *manifest->entries))
        return error_memory(error, sizeof *segments, "a segment");
    if (index->parts.rows + draft->segment.rows >= UINT32_MAX)
        return error_set(error, COG_ERR_MEMORY, "more than 4 billion rows: split the input");
    segments[count] = draft->segment;
    memory[count] = draft->memory;
    manifest->entries[count] =
        (struct manifest_entry){.number = manifest->next_number++, .rows = draft->segment.rows};
    manifest->count++;
    index->parts.rows += draft->segment.rows;
    *draft = (struct segment_draft){0};
    return COG_OK;
}

static void report_index(const cog_index *index, cog_report *report) {
    cog_index_info info;
    cog_index_describe(index, &info);
    report_number(report, "rows", (double)info.rows);
    report_number(report, "segments", (double)info.segments);
    report_number(report, "bits", info.bits);
    report_number(report, "slice_bits", info.slice_bits);
    report_number(report, "vocabulary_terms", (double)info.vocabulary_terms);
    report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
}

static cog_status finish_building(cog_index *index, struct segment_draft *draft, cog_status status,
                                  uint64_t start_ns, cog_index **result, cog_report *report,
                                  cog_error *error) {
    THEN(status, index_take_draft(index, draft, error));
    segment_draft_free(draft);
    if (status != COG_OK) {
        cog_index_close(index);
        return status;
    }
    report_stage(report, "indexing", clock_seconds_since(start_ns));
    report_index(index, report);
    *result = index;
    return COG_OK;
}

cog_status index_mark_empty(const cog_index *index, const struct corpus *corpus, uint8_t *is_empty,
                            size_t *unknown, cog_error *error) {
    size_t most = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        if (corpus->items[row].term_count > most)
            most = corpus->items[row].term_count;
    float *weights = memory_array(most + 1, sizeof *weights);
    if (!weights)
        return error_memory(error, most * sizeof *weights, "weights");
    *unknown = 0;
    for (size_t row = 0; row < corpus->rows; row++) {
        struct bag_view bag = corpus_bag(corpus, row);
        bool weighs = false;
        weighting_apply(&index->weighting, index->statistics->counts, NULL, &bag, weights);
        for (size_t i = 0; i < bag.count && !weighs; i++)
            weighs = weights[i] > 0;
        is_empty[row] = !weighs;
        *unknown += bag.count && !weighs;
    }
    free(weights);
    return COG_OK;
}

cog_status index_drop_empty_rows(const cog_index *index, struct corpus *corpus, cog_report *report,
                                 cog_error *error) {
    size_t kept = 0, unknown = 0;
    uint8_t *is_empty = memory_array(corpus->rows + 1, 1);
    cog_status status = is_empty ? index_mark_empty(index, corpus, is_empty, &unknown, error)
                                 : error_memory(error, corpus->rows, "documents");
    for (size_t row = 0; status == COG_OK && row < corpus->rows; row++)
        if (!is_empty[row])
            corpus->items[kept++] = corpus->items[row];
    free(is_empty);
    if (status != COG_OK)
        return status;
    corpus->rows = kept;
    if (unknown)
        report_notice(report, "%zu document%s no term that the index knows; %s left out", unknown,
                      plural(unknown, " has", "s have"), plural(unknown, "it is", "they are"));
    return COG_OK;
}

static cog_status index_corpus(cog_index *index, struct corpus *corpus,
                               const cog_index_options *options, const cog_run_options *run,
                               struct segment_draft *draft, cog_report *report, cog_error *error) {
    struct settings *settings = &index->parts.manifest.settings;
    unsigned threads = threads_resolve(run ? run->threads : 0);
    struct progress progress;
    progress_start(&progress, run, "indexing", corpus->rows);
    cog_status status = progress_report(&progress, 0, error);
    THEN(status, index_collect_statistics(index, corpus, &options->sign.terms, threads, error));
    THEN(status, record_method(options, options->sign.signature.bits, settings, error));
    THEN(status, record_documents(index, options, settings, error));
    THEN(status, index_interpret_settings(index, error));
    THEN(status, index_make_columns(index, error));
    THEN(status, index_drop_empty_rows(index, corpus, report, error));
    THEN(status, segment_draft_documents(index, corpus, threads, draft, error));
    return status == COG_OK ? progress_finish(&progress, error) : status;
}

cog_status index_check_memory(const cog_documents *documents, const cog_run_options *run,
                              cog_report *report, cog_error *error) {
    enum { SIGNATURES_AND_LISTS = 1 }; /* bytes for each byte of text, as measured and rounded up */
    double text_bytes = (double)ingest_text_bytes(documents);
    return memory_budget_check(MEMORY_BASE_BYTES +
                                   text_bytes * (MEMORY_OF_TERMS + SIGNATURES_AND_LISTS),
                               run, report, error);
}

cog_status cog_index_build(cog_documents *documents, const cog_index_options *asked,
                           const cog_run_options *run, cog_index **result, cog_report *report,
                           cog_error *error) {
    cog_index_options copy = *asked, *options = &copy;
    struct corpus corpus = {0};
    struct segment_draft draft = {0};
    struct term_options terms;
    cog_status status = check_options(options, true, error);
    THEN(status, options_terms(&options->sign.terms, &terms, error));
    THEN(status, index_check_memory(documents, run, report, error));
    cog_index *index = status == COG_OK ? calloc(1, sizeof *index) : NULL;
    if (status == COG_OK && !index)
        status = error_memory(error, sizeof *index, "an index");
    if (status != COG_OK)
        return status;
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    struct job job;
    job_begin(&job, run, report);
    status = corpus_read(&corpus, documents, &reading, run, report, error);
    uint64_t start = clock_ns();
    THEN(status, index_corpus(index, &corpus, options, run, &draft, report, error));
    job_end(&job);
    corpus_free(&corpus);
    return finish_building(index, &draft, status, start, result, report, error);
}

cog_status cog_index_build_signatures(const cog_signatures *signatures,
                                      const cog_index_options *asked, const cog_run_options *run,
                                      cog_index **result, cog_report *report, cog_error *error) {
    cog_index_options copy = *asked, *options = &copy;
    const struct signatures_view *rows = &signatures->file.view;
    struct segment_draft draft = {0};
    uint64_t start = clock_ns();
    cog_status status = check_options(options, false, error);
    unsigned threads = threads_resolve(run ? run->threads : 0);
    if (status == COG_OK && !options->streamed)
        status = memory_budget_check(MEMORY_BASE_BYTES + signatures_memory(rows, options, threads) +
                                         numbered_ids_memory_bytes(rows->rows),
                                     run, report, error);
    cog_index *index = status == COG_OK ? calloc(1, sizeof *index) : NULL;
    if (status == COG_OK && !index)
        status = error_memory(error, sizeof *index, "an index");
    if (status != COG_OK)
        return status;
    struct settings *settings = &index->parts.manifest.settings;
    struct job job;
    job_begin(&job, run, report);
    index->build_weights = options->weights;
    status = prepare_stream(index, options, rows, error);
    THEN(status, record_method(options, rows->bits, settings, error));
    THEN(status, settings_set_text(settings, "signature", "given", error));
    THEN(status, settings_set_u64(settings, "bits", rows->bits, error));
    THEN(status, index_interpret_settings(index, error));
    THEN(status, segment_draft_signatures(index, rows, 0, false, threads, &draft, error));
    index->build_weights = NULL;
    job_end(&job);
    return finish_building(index, &draft, status, start, result, report, error);
}

/* ---- What it is ------------------------------------------------------------------------------ */

void cog_index_describe(const cog_index *index, cog_index_info *info) {
    const struct manifest *manifest = &index->parts.manifest;
    const char *method = "auto";
    settings_get_text(&manifest->settings, "index method", &method);
    *info = (cog_index_info){.segments = manifest->count,
                             .bits = index_bits(index),
                             .method = method_named(method),
                             .documents = index->has_documents,
                             .vectors = index->has_vectors};
    for (size_t i = 0; i < manifest->count; i++) {
        info->rows += manifest->entries[i].rows - manifest->entries[i].removed_count;
        info->removed_rows += manifest->entries[i].removed_count;
        info->file_bytes += manifest->entries[i].size_bytes;
    }
    if (manifest->count && index->parts.segments[0].slices.offsets)
        info->slice_bits = slice_width(&index->parts.segments[0].slices.layout, 0);
    if (manifest->count && index->parts.segments[0].tables)
        index->parts.segments[0].method->describe(index->parts.segments[0].tables, info);
    if (index->statistics)
        info->vocabulary_terms = statistics_term_count(index->statistics->counts);
}

bool cog_index_sign_options(const cog_index *index, cog_sign_options *options) {
    if (index->has_documents)
        *options = index->sign;
    return index->has_documents;
}

/* The option that a difference between settings is about. */
static const char *option_of(const char *difference) {
    static const char *const names[][2] = {{"tokens", "--tokens"},
                                           {"ngram", "--ngram"},
                                           {"stem", "--stem"},
                                           {"drop stop words", "--stop-words"},
                                           {"language", "--lang"},
                                           {"weighting", "--weighting"},
                                           {"k1", "--k1"},
                                           {"b ", "--b"},
                                           {"minimum collection frequency", "--min-frequency"},
                                           {"signature", "--signature"},
                                           {"bits", "--bits"},
                                           {"seed", "--seed"},
                                           {"gaussian", "--gaussian"},
                                           {"density", "--density"},
                                           {"value bits", "--value-bits"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(difference, names[i][0], strlen(names[i][0])) == 0)
            return names[i][1];
    return "the option";
}

cog_status cog_index_expect(const cog_index *index, const cog_sign_options *options,
                            cog_error *error) {
    if (!index->has_documents)
        return error_set(
            error, COG_ERR_USAGE,
            "the index holds signatures that were given: it does not know how they were "
            "made");
    struct settings own = {0}, other = {0};
    char difference[SETTINGS_DIFFERENCE_BYTES];
    cog_status status = options_record_signing(&index->sign, &own, error);
    THEN(status, options_record_signing(options, &other, error));
    if (status == COG_OK && !settings_equal(&own, &other, difference))
        status = error_set(error, COG_ERR_USAGE,
                           "the index (here) was made otherwise than the options (there) say: %s; "
                           "leave %s out, or build another index",
                           difference, option_of(difference));
    settings_free(&own);
    settings_free(&other);
    return status;
}

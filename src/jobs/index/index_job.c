/* Builds an index in memory, from documents or from signatures, and describes an index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "collection/statistics_job.h"
#include "input/npy.h"
#include "jobs/index/index_draft.h"
#include "jobs/index/index_languages.h"
#include "jobs/index/index_pending.h"
#include "jobs/index/index_weights.h"
#include "plan/method_choice.h"
#include "run/job.h"

/* ---- The index ------------------------------------------------------------------------------- */

void cog_index_options_init(cog_index_options *options) {
    *options = (cog_index_options){.method = COG_METHOD_AUTO, .radius_bits = 3, .vectors = true};
    cog_sign_options_init(&options->sign, COG_SIGNATURE_RP);
}

void cog_index_options_init_for(cog_index_options *options, cog_measure measure) {
    cog_pairs_options pairs;
    cog_index_options_init(options);
    if (measure == COG_MEASURE_COSINE)
        return;
    cog_pairs_options_init(&pairs, measure);
    options->measure = measure;
    options->sign = pairs.sign;
}

/* Minhash values are stored with one bit each. The bits of different values agree half of the time,
 * so the share of differing bits is (1 - Jaccard) / 2. */
double index_estimate(const cog_index *index, uint32_t distance) {
    unsigned bits = index_bits(index);
    if (!index_is_of_minhash(index))
        return hamming_cosine(distance, bits);
    double estimate = 1 - 2 * (double)distance / bits;
    return estimate > 0 ? estimate : 0;
}

uint32_t index_radius_of(const cog_index *index, double threshold) {
    unsigned bits = index_bits(index);
    if (!index_is_of_minhash(index))
        return cog_radius_of_cosine(threshold, bits);
    uint32_t radius = 0;
    while (radius < bits && index_estimate(index, radius + 1) >= threshold)
        radius++;
    return radius;
}

unsigned index_bits(const cog_index *index) {
    uint64_t bits = 0;
    settings_get_u64(&index->parts.manifest.settings, "bits", &bits);
    return (unsigned)bits;
}

cog_status index_create(cog_index **result, cog_error *error) {
    cog_index *index;
    TAKE_ZEROED(index, 1, "an index", error);
    index->manifest_file = index->log.descriptor = -1;
    cog_status status = TAKEN(index->guard, 1, "an index", error);
    if (status == COG_OK)
        pthread_mutex_init(index->guard, NULL);
    return HAND_OUT(status, index, cog_index_close, result);
}

void index_forget_parts(cog_index *index) {
    index_weights_free(index->weights);
    index->weights = NULL;
    index_segments_close(&index->parts);
    pending_free(&index->pending);
    if (index->log.path)
        change_log_close(&index->log);
    if (index->manifest_file >= 0)
        close(index->manifest_file);
    index->manifest_file = -1;
}

void cog_index_close(cog_index *index) {
    if (!index || __atomic_fetch_sub(&index->extra_owners, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    index_forget_parts(index);
    statistics_release(index->statistics);
    statistics_release(index->exact);
    if (index->guard)
        pthread_mutex_destroy(index->guard);
    FREE(index->guard, index->folder, index);
}

/* ---- Building -------------------------------------------------------------------------------- */

static bool is_of_sets(const cog_index_options *options) {
    return options->measure != COG_MEASURE_COSINE && options->vectors;
}

/* Sets are compared exactly, with the data that every index of sets has. */
static cog_status check_set_options(const cog_index_options *options, cog_error *error) {
    if (options->method != COG_METHOD_AUTO || options->knobs.given)
        return error_about(error, COG_ERR_USAGE, "method",
                           "an index by jaccard or containment is exact and has no signatures: "
                           "leave the method out");
    return COG_OK;
}

/* Signatures that stand for sets. */
static cog_status check_minhash_options(const cog_index_options *options, cog_error *error) {
    const cog_signature_options *signature = &options->sign.signature;
    if (options->measure != COG_MEASURE_JACCARD)
        return error_about(error, COG_ERR_USAGE, "vectors",
                           "signatures do not tell a containment: an index by containment "
                           "consists of the sets of its documents");
    if (signature->kind != COG_SIGNATURE_MINHASH)
        return error_about(error, COG_ERR_USAGE, "kind",
                           "only minhash signatures tell a Jaccard similarity: use these, or keep "
                           "the sets");
    if (signature->value_bits != 1)
        return error_about(error, COG_ERR_USAGE, "value_bits",
                           "distances tell a Jaccard similarity if each minhash value has one bit, "
                           "not %u: use 1, and as many bits as values",
                           signature->value_bits);
    const struct search_method *method = method_of(options->method);
    if (method && method->needs & NEEDS_ROW_MARGINS)
        return error_about(error, COG_ERR_USAGE, "method",
                           "the method %s needs margins, and minhash signatures have none: use "
                           "another, or auto",
                           method->name);
    return COG_OK;
}

static cog_status check_options(cog_index_options *options, bool documents, cog_error *error) {
    TRY(check_enum(options->measure, COG_MEASURE_CONTAINMENT + 1, "measure", error));
    if (options->measure != COG_MEASURE_COSINE && !documents)
        return error_about(error, COG_ERR_USAGE, "measure",
                           "signatures are compared by their distance: a measure of sets needs "
                           "documents");
    if (is_of_sets(options))
        return check_set_options(options, error);
    TRY(method_take_knobs(&options->method, &options->knobs, COG_KNOB_BUILD, error));
    const struct search_method *method = method_of(options->method);
    if (method && !method->search)
        return error_set(error, COG_ERR_USAGE,
                         "the method %s joins pairs and does not search an index", method->name);
    if (method && method->needs & NEEDS_VECTORS)
        return error_set(error, COG_ERR_USAGE,
                         "an index needs nothing for the method %s but its vectors: choose a "
                         "method of signatures, or auto",
                         method->name);
    if (options->measure != COG_MEASURE_COSINE)
        return check_minhash_options(options, error);
    if (documents && options->sign.signature.kind == COG_SIGNATURE_MINHASH)
        return error_about(error, COG_ERR_USAGE, "kind",
                           "minhash signatures do not tell a cosine: use rp, simhash or topsig, or "
                           "the measure jaccard without vectors");
    return COG_OK;
}

/* Completes the knobs from the number of rows. */
static cog_status complete_knobs(cog_index_options *options, size_t rows, unsigned bits,
                                 cog_error *error) {
    const struct search_method *method = method_of(options->method);
    struct method_size size = {.rows = rows, .bits = bits, .radius_bits = options->radius_bits};
    options->knobs.method = options->method;
    return method && method->settings ? method->settings(&size, &options->knobs, error) : COG_OK;
}

static cog_status record_method(const cog_index_options *options, struct settings *settings,
                                cog_error *error) {
    const struct search_method *method = method_of(options->method);
    TRY(settings_set_text(settings, "index method", method_name(options->method), error));
    if (method && method->is_for_radius) {
        TRY(settings_set_u64(settings, "radius", options->radius_bits, error));
    }
    for (unsigned i = 0; method && i < method->knob_count; i++)
        if (method->knobs[i].uses & COG_KNOB_BUILD) {
            TRY(settings_set_u64(settings, draft_knob_record(method, i),
                                 knob_or(&options->knobs, i, 0), error));
        }
    return COG_OK;
}

/* A streamed index has only its signatures, and knows which tables searches must build. */
static void prepare_stream(cog_index *index, cog_index_options *options) {
    const struct search_method *method = method_of(options->method);
    if (!options->streamed || !method || !method->is_for_radius)
        return;
    index->streamed = method;
    index->streamed_knobs = options->knobs;
    index->streamed_radius_bits = options->radius_bits;
    options->method = COG_METHOD_FLAT;
}

/* Memory of signatures, tables, and temporary data while tables are built. */
static double signatures_memory(const struct signatures_view *rows,
                                const cog_index_options *options, unsigned threads) {
    cog_method number =
        options->method == COG_METHOD_AUTO ? method_for_index(rows->rows, false) : options->method;
    const struct search_method *method = method_of(number);
    struct method_size size = {.rows = rows->rows,
                               .bits = rows->bits,
                               .radius_bits = options->radius_bits,
                               .threads = threads};
    struct method_prediction prediction = {0};
    if (method->build && method->predict && rows->rows)
        method->predict(&size, &options->knobs, &prediction);
    return (double)rows->rows * (double)rows->stride_bytes + prediction.build_bytes;
}

/* Records how documents were made; compared when the index is opened. */
static cog_status record_documents(const cog_index_options *options, struct settings *settings,
                                   cog_error *error) {
    cog_status status = options_record_signing(&options->sign, settings, error);
    THEN(status, settings_set_u64(settings, "vectors", options->vectors, error));
    return status;
}

static const char *const measure_names[] = {"cosine", "jaccard", "containment"};

static cog_status read_measure(cog_index *index, const char *measure, cog_error *error) {
    index->measure = strcmp(measure, measure_names[COG_MEASURE_JACCARD]) == 0
                         ? COG_MEASURE_JACCARD
                         : COG_MEASURE_CONTAINMENT;
    if (strcmp(measure, measure_names[index->measure]) != 0)
        return error_set(error, COG_ERR_FORMAT,
                         "an index by the measure '%s', which this version of Cognate does not "
                         "know: use a later one",
                         measure);
    return COG_OK;
}

static cog_status interpret_set_settings(cog_index *index, const char *measure, cog_error *error) {
    const struct settings *settings = &index->parts.manifest.settings;
    cog_index_options usual;
    TRY(read_measure(index, measure, error));
    index->has_documents = index->has_vectors = true;
    cog_index_options_init_for(&usual, index->measure);
    index->sign = usual.sign;
    TRY(options_read_terms(settings, &index->sign.terms, error));
    return options_set_terms(&index->sign.terms, index->measure, &index->terms, error);
}

cog_status index_interpret_settings(cog_index *index, cog_error *error) {
    const struct settings *settings = &index->parts.manifest.settings;
    const char *kind = "";
    const char *measure = NULL;
    uint64_t vectors = 0;
    const bool is_signed = settings_get_text(settings, "signature", &kind);
    if (settings_get_text(settings, "measure", &measure) && !is_signed)
        return interpret_set_settings(index, measure, error);
    if (measure)
        TRY(read_measure(index, measure, error));
    index->has_documents = strcmp(kind, "given") != 0;
    if (!index->has_documents)
        return COG_OK;
    settings_get_u64(settings, "vectors", &vectors);
    index->has_vectors = vectors;
    index->is_multilingual = index_has_lexicon(index);
    cog_status status = options_read_signing(settings, &index->sign, error);
    THEN(status, options_terms(&index->sign.terms, &index->terms, error));
    THEN(status, options_weighting(&index->sign.weights, &index->weighting, error));
    return status;
}

cog_status index_take_draft(cog_index *index, struct segment_draft *draft, bool is_pending,
                            cog_error *error) {
    struct manifest *manifest = &index->parts.manifest;
    struct manifest_entry entry = {.rows = draft->segment.rows, .is_pending = is_pending};
    if (index->parts.rows + draft->segment.rows >= UINT32_MAX)
        return error_set(error, COG_ERR_MEMORY, "more than 4 billion rows: split the input");
    if (!is_pending)
        entry.number = manifest->next_number;
    TRY(index_segments_append(&index->parts, entry, &draft->segment, &draft->memory, error));
    if (!is_pending)
        manifest->next_number++;
    return index_reset_weights(index, error);
}

static void report_index(const cog_index *index, cog_report *report) {
    cog_index_info info;
    cog_index_describe(index, &info);
    report_number(report, "rows", (double)info.rows);
    report_number(report, "segments", (double)info.segments);
    report_number(report, "bits", info.bits);
    report_number(report, "slice_bits", info.slice_bits);
    report_number(report, "vocabulary_terms", (double)info.vocabulary_terms);
}

static cog_status finish_building(cog_index *index, struct segment_draft *draft, cog_status status,
                                  uint64_t start_ns, cog_index **result, cog_report *report,
                                  cog_error *error) {
    THEN(status, index_take_draft(index, draft, false, error));
    index->is_prepared = true;
    segment_draft_free(draft);
    if (status == COG_OK) {
        report_stage(report, "indexing", clock_seconds_since(start_ns));
        report_index(index, report);
    }
    return HAND_OUT(status, index, cog_index_close, result);
}

cog_status index_mark_empty(const cog_index *index, const struct corpus *corpus, uint8_t *is_empty,
                            cog_error *error) {
    size_t most = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        if (corpus->items[row].term_count > most)
            most = corpus->items[row].term_count;
    float *weights;
    TAKE(weights, most + 1, "weights", error);
    for (size_t row = 0; row < corpus->rows; row++) {
        struct bag_view bag = corpus_bag(corpus, row);
        bool weighs = false;
        weighting_apply(&index->weighting, index->statistics->counts, NULL, &bag, weights);
        for (size_t i = 0; i < bag.count && !weighs; i++)
            weighs = weights[i] > 0;
        is_empty[row] = !weighs;
    }
    free(weights);
    return COG_OK;
}

void corpus_drop_empty_rows(struct corpus *corpus) {
    size_t kept = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        if (corpus->items[row].term_count)
            corpus->items[kept++] = corpus->items[row];
    corpus->rows = kept;
}

static cog_status index_corpus(cog_index *index, struct corpus *corpus, cog_index_options *options,
                               const struct foreign_documents *foreign, const cog_run_options *run,
                               struct segment_draft *draft, cog_error *error) {
    struct settings *settings = &index->parts.manifest.settings;
    unsigned threads = threads_resolve(run ? run->threads : 0);
    progress_show("indexing");
    if (options->measure != COG_MEASURE_COSINE)
        TRY(settings_set_text(settings, "measure", measure_names[options->measure], error));
    if (is_of_sets(options)) {
        TRY(options_record_terms(&options->sign.terms, settings, error));
        TRY(index_interpret_settings(index, error));
        return segment_draft_sets(index, corpus, threads, draft, error);
    }
    corpus_drop_empty_rows(corpus);
    cog_status status = complete_knobs(options, corpus->rows, options->sign.signature.bits, error);
    THEN(status, record_method(options, settings, error));
    THEN(status, record_documents(options, settings, error));
    THEN(status, index_record_lexicon(settings, foreign, error));
    THEN(status, index_interpret_settings(index, error));
    THEN(status, index_start_statistics(index, error));
    if (status == COG_OK && !index_is_of_minhash(index)) {
        statistics_free(index->statistics->counts);
        index->statistics->counts = NULL;
        const struct corpus *corpora = corpus;
        status = corpus_statistics(&corpora, 1, threads, &index->statistics->counts, error);
    }
    THEN(status, segment_draft_documents(index, corpus, NULL, threads, draft, error));
    return status;
}

cog_status index_check_memory(const cog_documents *documents, bool as_sets,
                              const cog_run_options *run, cog_report *report, cog_error *error) {
    /* Bytes per byte of text, measured and rounded up. */
    enum { SIGNATURES_AND_LISTS = 1, SETS_AND_LISTS = 5 };
    const int others = as_sets ? SETS_AND_LISTS : SIGNATURES_AND_LISTS;
    double text_bytes = (double)ingest_text_bytes(documents);
    if (documents->foreign)
        text_bytes *= INGEST_PROJECTED_SHARE;
    return memory_budget_check(
        MEMORY_BASE_BYTES + text_bytes * (MEMORY_OF_TERMS + others) +
            ingest_projection_bytes(documents, threads_resolve(run ? run->threads : 0)),
        run, report, error);
}

cog_status cog_index_build(cog_documents *documents, const cog_index_options *asked,
                           const cog_run_options *run, cog_index **result, cog_report *report,
                           cog_error *error) {
    TRY(check_given(documents, "documents", error));
    TRY(check_given(asked, "options", error));
    TRY(check_given(result, "index", error));
    TRY(options_check_reserved(asked->reserved, 3, "index", error));
    cog_index_options copy = *asked, *options = &copy;
    struct corpus corpus = {0};
    struct segment_draft draft = {0};
    struct term_options terms;
    cog_index *index;
    TRY(check_options(options, true, error));
    TRY(is_of_sets(options)
            ? options_set_terms(&options->sign.terms, options->measure, &terms, error)
            : options_terms(&options->sign.terms, &terms, error));
    TRY(options_check_signing(&options->sign, error));
    TRY(foreign_check_signature(documents->foreign, options->sign.signature.kind, error));
    TRY(index_check_memory(documents, is_of_sets(options), run, report, error));
    TRY(index_create(&index, error));
    index->is_unmeasured = options->unmeasured;
    struct corpus_options reading = {.terms = &terms,
                                     .want_frequencies = true,
                                     .as_sets = is_of_sets(options),
                                     .takes_foreign = options->measure == COG_MEASURE_COSINE};
    struct job job;
    job_begin(&job, run, report);
    cog_status status = corpus_read(&corpus, documents, &reading, run, report, error);
    uint64_t start = clock_ns();
    THEN(status, index_corpus(index, &corpus, options, documents->foreign, run, &draft, error));
    corpus_free(&corpus);
    status = finish_building(index, &draft, status, start, result, report, error);
    job_end(&job);
    return status;
}

cog_status cog_index_build_signatures(const cog_signatures *signatures,
                                      const cog_index_options *asked, const cog_run_options *run,
                                      cog_index **result, cog_report *report, cog_error *error) {
    TRY(check_given(signatures, "signatures", error));
    TRY(check_given(asked, "options", error));
    TRY(check_given(result, "index", error));
    TRY(options_check_reserved(asked->reserved, 3, "index", error));
    cog_index_options copy = *asked, *options = &copy;
    const struct signatures_view *rows = &signatures->file.view;
    struct segment_draft draft = {0};
    uint64_t start = clock_ns();
    cog_index *index;
    TRY(check_options(options, false, error));
    unsigned threads = threads_resolve(run ? run->threads : 0);
    if (!options->streamed)
        TRY(memory_budget_check(MEMORY_BASE_BYTES + signatures_memory(rows, options, threads) +
                                    numbered_ids_memory_bytes(rows->rows),
                                run, report, error));
    TRY(index_create(&index, error));
    struct settings *settings = &index->parts.manifest.settings;
    struct job job;
    job_begin(&job, run, report);
    index->is_unmeasured = options->unmeasured || options->streamed;
    index->build_weights = options->weights;
    cog_status status = complete_knobs(options, rows->rows, rows->bits, error);
    prepare_stream(index, options);
    THEN(status, record_method(options, settings, error));
    THEN(status, settings_set_text(settings, "signature", "given", error));
    THEN(status, settings_set_u64(settings, "bits", rows->bits, error));
    THEN(status, index_interpret_settings(index, error));
    THEN(status, segment_draft_signatures(index, rows, 0, false, threads, &draft, error));
    index->build_weights = NULL;
    status = finish_building(index, &draft, status, start, result, report, error);
    job_end(&job);
    return status;
}

/* ---- What it is ------------------------------------------------------------------------------ */

double index_memory_bytes(const cog_index *index) {
    double bytes = 0;
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct segment *segment = &index->parts.segments[part];
        const struct sparse_matrix *vectors = &segment->vectors;
        struct method_size size = {
            .rows = segment->rows, .bits = segment->signatures.bits, .threads = 1};
        bytes += (double)segment->rows * (double)segment->signatures.stride_bytes +
                 (double)segment->id_bytes.size;
        if (segment->id_offsets)
            bytes += (double)segment->rows * (sizeof(uint64_t) + ID_ENTRY_BYTES);
        if (vectors->offsets)
            bytes += (double)vectors->offsets[vectors->rows] * (sizeof(uint32_t) + sizeof(float)) +
                     (double)vectors->rows * sizeof(uint64_t);
        for (unsigned i = 0; i < segment->table_count; i++) {
            struct method_prediction prediction = {0};
            if (segment->tables[i].method->predict)
                segment->tables[i].method->predict(&size, NULL, &prediction);
            bytes += prediction.table_bytes;
        }
    }
    return bytes;
}

void cog_index_describe(const cog_index *index, cog_index_info *info) {
    index_prepare(index, NULL);
    const struct manifest *manifest = &index->parts.manifest;
    const char *method = "auto";
    settings_get_text(&manifest->settings, "index method", &method);
    *info = (cog_index_info){.segments = manifest->count,
                             .bits = index_bits(index),
                             .method = method_named(method),
                             .measure = index->measure,
                             .documents = index->has_documents,
                             .vectors = index->has_vectors};
    for (size_t i = 0; i < manifest->count; i++) {
        info->rows += manifest->entries[i].rows - manifest->entries[i].removed_count;
        info->removed_rows += manifest->entries[i].removed_count;
        info->file_bytes += manifest->entries[i].size_bytes;
        if (manifest->entries[i].is_pending)
            info->pending_rows += manifest->entries[i].rows - manifest->entries[i].removed_count;
    }
    info->file_bytes += index->log.end_bytes;
    const struct segment *first = manifest->count ? &index->parts.segments[0] : NULL;
    for (unsigned i = 0; first && i < first->table_count; i++)
        if (first->tables[i].method->describe)
            first->tables[i].method->describe(first->tables[i].data, info);
    if (!index->statistics)
        return;
    const struct statistics *counts = index->statistics->counts;
    info->vocabulary_terms = statistics_term_count(counts);
    info->counted_documents = statistics_document_count(counts);
    for (size_t i = 0; i < manifest->count && weighting_needs_statistics(&index->weighting); i++) {
        const struct segment_terms *terms = &index->parts.segments[i].terms;
        info->outdated_segments += index->parts.segments[i].rows &&
                                   (terms->signed_documents != info->counted_documents ||
                                    terms->signed_length != statistics_total_length(counts));
    }
}

bool cog_index_sign_options(const cog_index *index, cog_sign_options *options) {
    if (index->has_documents)
        *options = index->sign;
    return index->has_documents;
}

/* The option related to a difference between settings. */
static const char *option_of(const char *difference) {
    static const char *const names[][2] = {
        {"tokens", "tokens"},
        {"ngram", "ngram"},
        {"stem", "stem"},
        {"drop stop words", "drop_stop_words"},
        {"language", "lang"},
        {"weighting", "scheme"},
        {"k1", "k1"},
        {"b ", "b"},
        {"minimum collection frequency", "min_collection_frequency"},
        {"signature", "kind"},
        {"bits", "bits"},
        {"seed", "seed"},
        {"gaussian", "gaussian"},
        {"density", "density"},
        {"value bits", "value_bits"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(difference, names[i][0], strlen(names[i][0])) == 0)
            return names[i][1];
    return NULL;
}

cog_status cog_index_expect(const cog_index *index, const cog_sign_options *options,
                            cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(options, "options", error));
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
        status = error_about(error, COG_ERR_USAGE, option_of(difference),
                             "the index (here) was made differently from the options (there): %s; "
                             "leave the option out, or build another index",
                             difference);
    settings_free(&own);
    settings_free(&other);
    return status;
}

/* An index as a job builds it, a folder keeps it, and a handle opens it. */
#include "job/index_job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "job/memory_budget.h"
#include "job/progress.h"
#include "job/report.h"
#include "job/signature_handle.h"
#include "vector/statistics_file.h"

static const char *const method_names[COG_METHOD_COUNT] = {
    [COG_METHOD_AUTO] = "auto",       [COG_METHOD_FLAT] = "flat", [COG_METHOD_SLICES] = "slices",
    [COG_METHOD_COLUMNS] = "columns", [COG_METHOD_PSM] = "psm",   [COG_METHOD_BPHS] = "bphs"};

void cog_index_options_init(cog_index_options *options) {
    *options = (cog_index_options){.method = COG_METHOD_AUTO, .radius_bits = 3, .vectors = true};
    cog_sign_options_init(&options->sign, COG_SIGNATURE_RP);
    options->sign.weights.min_collection_frequency = 1;
}

static void forget_parts(cog_index *index) {
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
    forget_parts(index);
    cog_statistics_free(index->statistics);
    columns_free(index->columns);
    free(index->folder);
    free(index);
}

/* ---- Building -------------------------------------------------------------------------------- */

static bool is_short(cog_method method) {
    return method == COG_METHOD_PSM || method == COG_METHOD_BPHS;
}

static cog_status check_options(const cog_index_options *options, bool documents,
                                cog_error *error) {
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
    if (options->slice_bits > SLICE_WIDTH_MAX)
        return error_set(error, COG_ERR_USAGE, "slices of %u bits: choose 1 to %d",
                         options->slice_bits, SLICE_WIDTH_MAX);
    if (options->header_bits > LINE_HEADER_BITS_MAX ||
        (options->header_bits && options->method != COG_METHOD_PSM))
        return error_set(error, COG_ERR_USAGE,
                         "a header of %u bits: psm takes one of 1 to %d, other methods none",
                         options->header_bits, LINE_HEADER_BITS_MAX);
    if ((options->blocks || options->chosen) && options->method != COG_METHOD_BPHS)
        return error_set(error, COG_ERR_USAGE, "blocks of the keys are for the method bphs");
    if (documents && options->sign.signature.kind == COG_SIGNATURE_MINHASH)
        return error_set(error, COG_ERR_USAGE,
                         "minhash signatures do not tell a cosine: use rp, simhash or topsig");
    return COG_OK;
}

static struct short_form form_of(const cog_index_options *options) {
    return (struct short_form){.radius_bits = options->radius_bits,
                               .header_bits = options->header_bits,
                               .blocks = options->blocks,
                               .chosen = options->chosen};
}

static cog_status record_short_form(const cog_index_options *options, unsigned bits,
                                    struct settings *settings, cog_error *error) {
    struct short_form form = form_of(options);
    cog_status status = settings_set_u64(settings, "radius", form.radius_bits, error);
    if (status == COG_OK && options->method == COG_METHOD_PSM)
        return settings_set_u64(settings, "header bits", form.header_bits, error);
    if (status == COG_OK)
        status = short_form_complete(&form, bits, error);
    if (status == COG_OK)
        status = settings_set_u64(settings, "blocks", form.blocks, error);
    return status == COG_OK ? settings_set_u64(settings, "chosen blocks", form.chosen, error)
                            : status;
}

/* A streamed index has its signatures and knows what searches are to build. */
static cog_status prepare_stream(cog_index *index, cog_index_options *options,
                                 const struct signatures_view *rows, cog_error *error) {
    index->is_streamed = options->streamed && is_short(options->method);
    if (!index->is_streamed)
        return COG_OK;
    options->method = COG_METHOD_FLAT;
    index->stream_form = form_of(options);
    cog_status status = short_form_check_rows(&index->stream_form, rows->rows, error);
    return status == COG_OK ? short_form_complete(&index->stream_form, rows->bits, error) : status;
}

static cog_status record_method(const cog_index_options *options, unsigned bits,
                                struct settings *settings, cog_error *error) {
    cog_status status =
        settings_set_text(settings, "index method", method_names[options->method], error);
    if (status == COG_OK)
        status = settings_set_u64(settings, "slice bits", options->slice_bits, error);
    if (status == COG_OK && is_short(options->method))
        status = record_short_form(options, bits, settings, error);
    return status;
}

/* Signatures in memory, lists, and what building them takes for a while. */
static double signatures_memory(const struct signatures_view *rows,
                                const cog_index_options *options) {
    double bytes = (double)rows->rows * (double)rows->stride_bytes;
    if (options->method == COG_METHOD_FLAT || rows->rows == 0)
        return bytes;
    if (options->method == COG_METHOD_COLUMNS) /* groups that are not full; order and clusters */
        return 2.1 * bytes + 26 * (double)rows->rows;
    if (is_short(options->method)) { /* tables, row numbers, twice the keys while sorted */
        struct short_form form = form_of(options);
        short_form_complete(&form, rows->bits, NULL);
        return bytes * (5 + (options->method == COG_METHOD_PSM ? 1 : 1.2 * form.tables));
    }
    unsigned width =
        options->slice_bits ? options->slice_bits : slice_width_for(rows->rows, rows->bits);
    double slices = ceil((double)rows->bits / width);
    return bytes + slices * ((double)rows->rows + (double)((uint64_t)1 << width)) * 4;
}

static cog_status add_to_fingerprint(void *context, uint64_t hash, struct term_counts counts,
                                     cog_error *error) {
    (void)error;
    *(uint64_t *)context +=
        hash_pair(hash_pair(hash, counts.document_frequency), counts.collection_frequency);
    return COG_OK;
}

/* The same for the same documents and terms with the same counts, in whatever order. */
static uint64_t statistics_fingerprint(const struct statistics *counts) {
    uint64_t sum = 0;
    statistics_visit(counts, add_to_fingerprint, &sum, NULL);
    sum = hash_pair(sum, statistics_document_count(counts));
    return hash_pair(sum, statistics_total_length(counts));
}

static cog_status record_statistics(const cog_index *index, struct settings *settings,
                                    cog_error *error) {
    const struct statistics *counts = index->statistics->counts;
    cog_status status = settings_set_u64(settings, "statistics: documents",
                                         statistics_document_count(counts), error);
    return status == COG_OK ? settings_set_u64(settings, "statistics: fingerprint",
                                               statistics_fingerprint(counts), error)
                            : status;
}

/* What must fit when the parts of an index come together again. */
static cog_status record_documents(const cog_index *index, const cog_index_options *options,
                                   struct settings *settings, cog_error *error) {
    cog_status status = options_record_signing(&options->sign, settings, error);
    if (status == COG_OK)
        status = settings_set_u64(settings, "vectors", options->vectors, error);
    return status == COG_OK ? record_statistics(index, settings, error) : status;
}

/* After the settings and the statistics are known: everything that follows from them. */
static cog_status interpret_settings(cog_index *index, cog_error *error) {
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
    if (status == COG_OK)
        status = options_terms(&index->sign.terms, &index->terms, error);
    if (status == COG_OK)
        status = options_weighting(&index->sign.weights, &index->weighting, error);
    return status;
}

static cog_status make_columns(cog_index *index, cog_error *error) {
    return index->has_vectors
               ? columns_create(index->statistics->counts, 1,
                                index->weighting.min_collection_frequency, &index->columns, error)
               : COG_OK;
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
    if (status == COG_OK)
        status = index_take_draft(index, draft, error);
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
        report_notice(report, "%zu documents have no term that the index knows; they are left out",
                      unknown);
    return COG_OK;
}

static cog_status collect_statistics(cog_index *index, const struct corpus *corpus,
                                     const cog_term_options *terms, unsigned threads,
                                     cog_error *error) {
    index->statistics = calloc(1, sizeof *index->statistics);
    if (!index->statistics)
        return error_memory(error, sizeof *index->statistics, "statistics");
    cog_status status = corpus_statistics(&corpus, 1, threads, &index->statistics->counts, error);
    if (status == COG_OK)
        status = options_record_terms(terms, &index->statistics->terms, error);
    return status;
}

static cog_status statistics_path(const char *folder, char **path, cog_error *error) {
    if (asprintf(path, "%s/statistics", folder) >= 0)
        return COG_OK;
    *path = NULL;
    return error_memory(error, strlen(folder), "a path");
}

static cog_status save_statistics(const cog_index *index, const char *folder, cog_error *error) {
    char *path = NULL;
    cog_status status = statistics_path(folder, &path, error);
    if (status == COG_OK)
        status = cog_statistics_save(index->statistics, path, error);
    free(path);
    return status;
}

cog_status index_take_statistics(cog_index *index, const struct corpus *corpus, unsigned threads,
                                 cog_error *error) {
    cog_statistics_free(index->statistics);
    columns_free(index->columns);
    index->statistics = NULL;
    index->columns = NULL;
    cog_status status = collect_statistics(index, corpus, &index->sign.terms, threads, error);
    if (status == COG_OK)
        status = record_statistics(index, &index->parts.manifest.settings, error);
    if (status == COG_OK)
        status = make_columns(index, error);
    return status == COG_OK && index->folder ? save_statistics(index, index->folder, error)
                                             : status;
}

static cog_status index_corpus(cog_index *index, struct corpus *corpus,
                               const cog_index_options *options, const cog_run_options *run,
                               struct segment_draft *draft, cog_report *report, cog_error *error) {
    struct settings *settings = &index->parts.manifest.settings;
    unsigned threads = threads_resolve(run ? run->threads : 0);
    struct progress progress;
    progress_start(&progress, run, "indexing", corpus->rows);
    cog_status status = progress_report(&progress, 0, error);
    if (status == COG_OK)
        status = collect_statistics(index, corpus, &options->sign.terms, threads, error);
    if (status == COG_OK)
        status = record_method(options, options->sign.signature.bits, settings, error);
    if (status == COG_OK)
        status = record_documents(index, options, settings, error);
    if (status == COG_OK)
        status = interpret_settings(index, error);
    if (status == COG_OK)
        status = make_columns(index, error);
    if (status == COG_OK)
        status = index_drop_empty_rows(index, corpus, report, error);
    if (status == COG_OK)
        status = segment_draft_documents(index, corpus, threads, draft, error);
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

cog_status cog_index_build(cog_documents *documents, const cog_index_options *options,
                           const cog_run_options *run, cog_index **result, cog_report *report,
                           cog_error *error) {
    struct corpus corpus = {0};
    struct segment_draft draft = {0};
    struct term_options terms;
    cog_status status = check_options(options, true, error);
    if (status == COG_OK)
        status = options_terms(&options->sign.terms, &terms, error);
    if (status == COG_OK)
        status = index_check_memory(documents, run, report, error);
    cog_index *index = status == COG_OK ? calloc(1, sizeof *index) : NULL;
    if (status == COG_OK && !index)
        status = error_memory(error, sizeof *index, "an index");
    if (status != COG_OK)
        return status;
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    struct job_watch watch;
    job_watch_begin(&watch, run);
    status = corpus_read(&corpus, documents, &reading, run, report, error);
    uint64_t start = clock_ns();
    if (status == COG_OK)
        status = index_corpus(index, &corpus, options, run, &draft, report, error);
    job_watch_end(&watch);
    corpus_free(&corpus);
    return finish_building(index, &draft, status, start, result, report, error);
}

cog_status cog_index_build_signatures(const cog_signatures *signatures,
                                      const cog_index_options *asked, const cog_run_options *run,
                                      cog_index **result, cog_report *report, cog_error *error) {
    cog_index_options copy = *asked, *options = &copy;
    const struct signatures_view *rows = signatures_view_of(signatures);
    struct segment_draft draft = {0};
    uint64_t start = clock_ns();
    cog_status status = check_options(options, false, error);
    if (status == COG_OK && !options->streamed)
        status = memory_budget_check(MEMORY_BASE_BYTES + signatures_memory(rows, options), run,
                                     report, error);
    cog_index *index = status == COG_OK ? calloc(1, sizeof *index) : NULL;
    if (status == COG_OK && !index)
        status = error_memory(error, sizeof *index, "an index");
    if (status != COG_OK)
        return status;
    struct settings *settings = &index->parts.manifest.settings;
    struct job_watch watch;
    job_watch_begin(&watch, run);
    index->build_weights = options->weights;
    status = prepare_stream(index, options, rows, error);
    if (status == COG_OK)
        status = record_method(options, rows->bits, settings, error);
    if (status == COG_OK)
        status = settings_set_text(settings, "signature", "given", error);
    if (status == COG_OK)
        status = settings_set_u64(settings, "bits", rows->bits, error);
    if (status == COG_OK)
        status = interpret_settings(index, error);
    if (status == COG_OK)
        status = segment_draft_signatures(index, rows, 0, false,
                                          threads_resolve(run ? run->threads : 0), &draft, error);
    index->build_weights = NULL;
    job_watch_end(&watch);
    return finish_building(index, &draft, status, start, result, report, error);
}

/* ---- Folders --------------------------------------------------------------------------------- */

cog_status index_lock(const char *folder, int *lock, cog_error *error) {
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return error_system(error, "open the folder", folder);
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return COG_OK;
    cog_status status =
        errno == EWOULDBLOCK
            ? error_set(error, COG_ERR_USAGE,
                        "%s: another process is changing the index; try again", folder)
            : error_system(error, "lock the folder", folder);
    close(*lock);
    *lock = -1;
    return status;
}

void index_unlock(int lock) {
    if (lock >= 0)
        close(lock);
}

struct segment_parts index_parts_of(const struct segment *segment) {
    return (struct segment_parts){.rows = segment->rows,
                                  .settings = &segment->settings,
                                  .id_offsets = segment->id_offsets,
                                  .id_bytes = segment->id_bytes.data,
                                  .signatures = segment->signatures,
                                  .slices = segment->slices.offsets ? &segment->slices : NULL,
                                  .columns = segment->columns.words ? &segment->columns : NULL,
                                  .tables = segment->tables,
                                  .vectors = segment->vectors.offsets ? &segment->vectors : NULL};
}

/* Rows that have only numbers get these as their ids: later removals must not change them. */
static cog_status save_segment(const cog_index *index, size_t part, uint64_t first_row,
                               const char *folder, struct manifest *manifest, cog_error *error) {
    const struct segment *segment = &index->parts.segments[part];
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    struct segment_parts parts = index_parts_of(segment);
    struct segment_draft ids = {.segment.rows = segment->rows};
    cog_status status = COG_OK;
    if (!segment->id_offsets) {
        status = segment_draft_number(&ids, first_row, error);
        parts.id_offsets = ids.segment.id_offsets;
        parts.id_bytes = ids.segment.id_bytes.data;
    }
    if (status == COG_OK)
        status = manifest_add_segment(folder, manifest, &parts, error);
    segment_memory_free(&ids.memory);
    if (status != COG_OK || entry->removed_count == 0)
        return status;
    struct manifest_entry *saved = &manifest->entries[manifest->count - 1];
    saved->removed = memory_array(entry->removed_count, sizeof *saved->removed);
    if (!saved->removed)
        return error_memory(error, entry->removed_count * sizeof *saved->removed, "removed rows");
    memcpy(saved->removed, entry->removed, entry->removed_count * sizeof *saved->removed);
    saved->removed_count = entry->removed_count;
    return COG_OK;
}

static cog_status save_parts(const cog_index *index, const char *folder, cog_error *error) {
    struct manifest manifest = {0};
    uint64_t first_row = 0;
    cog_status status = settings_copy(&manifest.settings, &index->parts.manifest.settings, error);
    if (status == COG_OK && index->has_documents)
        status = save_statistics(index, folder, error);
    for (size_t i = 0; i < index->parts.manifest.count && status == COG_OK; i++) {
        status = save_segment(index, i, first_row, folder, &manifest, error);
        first_row += index->parts.manifest.entries[i].rows;
    }
    if (status == COG_OK)
        status = manifest_write(folder, &manifest, error);
    manifest_free(&manifest);
    return status;
}

/* Files of a build that did not come to its end may be there; others are somebody's. */
static cog_status check_folder(const char *folder, cog_error *error) {
    DIR *files = opendir(folder);
    if (!files)
        return error_system(error, "read the folder", folder);
    cog_status status = COG_OK;
    for (const struct dirent *file; status == COG_OK && (file = readdir(files));) {
        const char *name = file->d_name;
        bool own = name[0] == '.' || strncmp(name, "segment-", 8) == 0 ||
                   strncmp(name, "statistics", 10) == 0 || strncmp(name, "manifest", 8) == 0;
        if (!own)
            status = error_set(error, COG_ERR_USAGE,
                               "%s: holds other files, such as '%.100s'; name a new folder for the "
                               "index, or an empty one",
                               folder, name);
    }
    closedir(files);
    return status;
}

/* Makes the folder where there is none, locks it, and sees that an index may be written there. */
static cog_status claim_folder(const char *folder, bool *made, int *lock, cog_error *error) {
    *lock = -1;
    *made = mkdir(folder, 0777) == 0;
    if (!*made && errno != EEXIST)
        return error_system(error, "create the folder", folder);
    cog_status status = index_lock(folder, lock, error);
    if (status == COG_OK && manifest_exists(folder))
        status = error_set(
            error, COG_ERR_USAGE,
            "%s: holds an index already; name a new folder, or use cognate index add", folder);
    return status == COG_OK ? check_folder(folder, error) : status;
}

cog_status cog_index_check_folder(const char *folder, cog_error *error) {
    int lock;
    bool made;
    cog_status status = claim_folder(folder, &made, &lock, error);
    index_unlock(lock);
    if (made)
        rmdir(folder);
    return status;
}

/* A folder that we made, with what was written before something failed. */
static void remove_folder(const char *folder) {
    const struct manifest none = {0};
    char *path = NULL;
    index_sweep(folder, &none, NULL);
    if (statistics_path(folder, &path, NULL) == COG_OK)
        unlink(path);
    free(path);
    rmdir(folder);
}

cog_status cog_index_save(const cog_index *index, const char *folder, cog_error *error) {
    int lock;
    bool made;
    cog_status status = claim_folder(folder, &made, &lock, error);
    if (status == COG_OK)
        status = save_parts(index, folder, error);
    index_unlock(lock);
    if (status != COG_OK && made)
        remove_folder(folder);
    return status;
}

/* Whether the statistics are those that the settings speak of. */
static bool statistics_fit(const cog_index *index) {
    const struct settings *settings = &index->parts.manifest.settings;
    const struct statistics *counts = index->statistics->counts;
    uint64_t fingerprint = 0;
    return settings_get_u64(settings, "statistics: fingerprint", &fingerprint) &&
           fingerprint == statistics_fingerprint(counts);
}

bool index_awaits_statistics(const cog_index *index) {
    uint64_t documents = 0;
    settings_get_u64(&index->parts.manifest.settings, "statistics: documents", &documents);
    return index->has_documents && documents == 0;
}

/* Those of an empty index are empty, whatever the file has: filling one writes it before the
 * manifest. */
static cog_status read_statistics(cog_index *index, const char *path, cog_error *error) {
    cog_statistics *statistics = NULL;
    const struct corpus empty = {0};
    cog_status status = index_awaits_statistics(index)
                            ? collect_statistics(index, &empty, &index->sign.terms, 1, error)
                            : cog_statistics_open(path, &index->sign.terms, &statistics, error);
    if (statistics)
        index->statistics = statistics;
    return status == COG_OK ? make_columns(index, error) : status;
}

static cog_status load_statistics(cog_index *index, cog_error *error) {
    char *path = NULL;
    cog_status status = statistics_path(index->folder, &path, error);
    if (status == COG_OK)
        status = read_statistics(index, path, error);
    if (status == COG_OK && !statistics_fit(index))
        status = error_set(error, COG_ERR_FORMAT,
                           "%s: not the statistics that the index was made with; restore the "
                           "folder as a whole or build the index again",
                           path);
    free(path);
    return status;
}

static cog_status check_parts(const cog_index *index, cog_error *error) {
    for (size_t i = 0; i < index->parts.manifest.count; i++) {
        const struct segment *segment = &index->parts.segments[i];
        bool fits = segment->id_offsets && segment->signatures.bits == index_bits(index) &&
                    (!index->has_vectors ||
                     (segment->vectors.offsets &&
                      segment->vectors.column_count == columns_count(index->columns)));
        if (!fits)
            return error_set(error, COG_ERR_FORMAT,
                             "%s: ids, signatures or vectors are missing or do not fit the index",
                             segment->container.path);
    }
    if (index->parts.rows >= UINT32_MAX)
        return error_set(error, COG_ERR_FORMAT, "%s: more than 4 billion rows", index->folder);
    return COG_OK;
}

/* Opens the folder's state, with the statistics that are known where they are still the same: only
 * those of an empty index change, when it is filled. */
static cog_status open_state(cog_index *index, const cog_index *known, cog_error *error) {
    cog_status status = index_segments_open(index->folder, &index->parts, error);
    if (status == COG_OK)
        index->has_whole_vectors = memory_zeroed_array(index->parts.manifest.count + 1, 1);
    if (status == COG_OK && !index->has_whole_vectors)
        status = error_memory(error, index->parts.manifest.count, "segments");
    if (status == COG_OK)
        status = interpret_settings(index, error);
    if (status == COG_OK && index->has_documents) {
        index->statistics = known->statistics;
        index->columns = known->columns;
        if (!known->statistics || !statistics_fit(index)) {
            index->statistics = NULL;
            index->columns = NULL;
            status = load_statistics(index, error);
        }
    }
    return status == COG_OK ? check_parts(index, error) : status;
}

cog_status index_reload(cog_index *index, cog_error *error) {
    cog_index fresh = {.folder = index->folder};
    cog_status status = open_state(&fresh, index, error);
    cog_index *kept = status == COG_OK ? &fresh : index;
    cog_index *dropped = status == COG_OK ? index : &fresh;
    if (dropped->statistics != kept->statistics) {
        cog_statistics_free(dropped->statistics);
        columns_free(dropped->columns);
    }
    forget_parts(dropped);
    *index = *kept;
    return status;
}

bool cog_index_exists(const char *folder) {
    return manifest_exists(folder);
}

cog_status cog_index_open(const char *folder, cog_index **result, cog_error *error) {
    cog_index *index = calloc(1, sizeof *index);
    if (!index || !(index->folder = strdup(folder))) {
        free(index);
        return error_memory(error, sizeof *index, "an index");
    }
    cog_status status = index_reload(index, error);
    if (status != COG_OK) {
        cog_index_close(index);
        return status;
    }
    *result = index;
    return COG_OK;
}

/* Opening read the manifest and the statistics whole already. */
cog_status cog_index_check(const cog_index *index, cog_error *error) {
    return index->folder ? index_segments_verify(&index->parts, error) : COG_OK;
}

/* ---- What it is ------------------------------------------------------------------------------ */

static cog_method method_of(const struct settings *settings) {
    const char *name = "auto";
    settings_get_text(settings, "index method", &name);
    for (int method = 0; method < COG_METHOD_COUNT; method++)
        if (method_names[method] && strcmp(method_names[method], name) == 0)
            return (cog_method)method;
    return COG_METHOD_AUTO;
}

void cog_index_describe(const cog_index *index, cog_index_info *info) {
    const struct manifest *manifest = &index->parts.manifest;
    *info = (cog_index_info){.segments = manifest->count,
                             .bits = index_bits(index),
                             .method = method_of(&manifest->settings),
                             .documents = index->has_documents,
                             .vectors = index->has_vectors};
    for (size_t i = 0; i < manifest->count; i++) {
        info->rows += manifest->entries[i].rows - manifest->entries[i].removed_count;
        info->removed_rows += manifest->entries[i].removed_count;
        info->file_bytes += manifest->entries[i].size_bytes;
    }
    if (manifest->count && index->parts.segments[0].slices.offsets)
        info->slice_bits = slice_width(&index->parts.segments[0].slices.layout, 0);
    const struct short_tables *tables = manifest->count ? index->parts.segments[0].tables : NULL;
    if (tables) {
        const struct block_layout *layout = &tables->bphs.layout;
        bool psm = tables->kind == SHORT_PSM;
        info->radius_bits = tables->radius_bits;
        info->header_bits =
            psm ? tables->psm.table.header_bits : tables->bphs.tables[0].header_bits;
        info->tables = psm ? 1 : layout->choice_count;
        info->blocks = layout->blocks;
        info->chosen = layout->chosen;
        info->learned_pairs = tables->learned.pairs;
    }
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
    if (status == COG_OK)
        status = options_record_signing(options, &other, error);
    if (status == COG_OK && !settings_equal(&own, &other, difference))
        status = error_set(error, COG_ERR_USAGE,
                           "the index (here) was made otherwise than the options (there) say: %s; "
                           "leave %s out, or build another index",
                           difference, option_of(difference));
    settings_free(&own);
    settings_free(&other);
    return status;
}

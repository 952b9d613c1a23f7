/* Building an index in memory: segments from documents, from signatures, or merged from others, and
 * what an index tells about itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "collection/statistics_job.h"
#include "input/npy.h"
#include "jobs/index/index_job.h"
#include "plan/method_choice.h"
#include "run/job.h"

/* ---- Segments in memory ---------------------------------------------------------------------- */

void segment_memory_free(struct segment_memory *memory) {
    free(memory->id_offsets);
    free(memory->id_bytes);
    id_buckets_free(&memory->id_buckets);
    free(memory->signatures);
    sparse_matrix_free(&memory->vectors);
    *memory = (struct segment_memory){0};
}

void segment_draft_free(struct segment_draft *draft) {
    segment_close(&draft->segment);
    segment_memory_free(&draft->memory);
    *draft = (struct segment_draft){0};
}

/* The name of a knob of the build in the settings of an index. */
static const char *knob_record(const struct search_method *method, unsigned knob) {
    return method->knob_records ? method->knob_records[knob] : method->knobs[knob].name;
}

/* The knobs that the index was built with, and the radius. */
static void read_knobs(const struct settings *settings, cog_method number,
                       const struct search_method *method, cog_knobs *knobs,
                       uint64_t *radius_bits) {
    *knobs = (cog_knobs){.method = number};
    settings_get_u64(settings, "radius", radius_bits);
    for (unsigned i = 0; i < method->knob_count; i++) {
        uint64_t value = 0;
        if ((method->knobs[i].uses & COG_KNOB_BUILD) &&
            settings_get_u64(settings, knob_record(method, i), &value) && value)
            knob_set(knobs, i, value);
    }
}

/* The tables that the index's method keeps, if it keeps any. */
static cog_status add_tables(const cog_index *index, const float *margins, unsigned threads,
                             struct segment_draft *draft, cog_error *error) {
    const struct settings *settings = &index->parts.manifest.settings;
    const char *name = "auto";
    settings_get_text(settings, "index method", &name);
    cog_method number = method_named(name);
    if (number == COG_METHOD_AUTO)
        number = method_for_index(draft->segment.rows, index->has_documents);
    const struct search_method *method = method_of(number);
    cog_knobs knobs;
    uint64_t radius_bits = 0;
    if (!method->build)
        return COG_OK;
    read_knobs(settings, number, method, &knobs, &radius_bits);
    struct method_build build = {.rows = segment_method_rows(&draft->segment),
                                 .radius_bits = (uint32_t)radius_bits,
                                 .knobs = &knobs,
                                 .threads = threads};
    build.rows.margins = margins;
    if (index->parts.manifest.count > 0)
        build.earlier = segment_tables(&index->parts.segments[0], method);
    struct method_tables *tables = &draft->segment.tables[0];
    tables->method = method;
    TRY(method_build(method, &build, &tables->data, error));
    draft->segment.table_count = 1;
    return COG_OK;
}

static cog_status take_settings(const cog_index *index, struct segment_draft *draft,
                                cog_error *error) {
    return settings_copy(&draft->segment.settings, &index->parts.manifest.settings, error);
}

static cog_status make_room_for_ids(struct segment_draft *draft, size_t rows, size_t size_bytes,
                                    cog_error *error) {
    struct segment_memory *memory = &draft->memory;
    TAKE_ZEROED(memory->id_offsets, rows + 1, "ids", error);
    TAKE(memory->id_bytes, size_bytes, "ids", error);
    draft->segment.id_offsets = memory->id_offsets;
    draft->segment.id_bytes = view_of(memory->id_bytes, size_bytes);
    return COG_OK;
}

static void append_id(struct segment_draft *draft, size_t row, struct bytes_view id) {
    uint64_t at = draft->memory.id_offsets[row];
    if (id.size)
        memcpy(draft->memory.id_bytes + at, id.data, id.size);
    draft->memory.id_offsets[row + 1] = at + id.size;
}

/* Once all ids are there. */
static cog_status index_ids(struct segment_draft *draft, cog_error *error) {
    cog_status status = id_buckets_build(&draft->segment, &draft->memory.id_buckets, error);
    draft->segment.id_buckets = draft->memory.id_buckets;
    return status;
}

static cog_status copy_ids(const struct corpus *corpus, struct segment_draft *draft,
                           cog_error *error) {
    size_t size_bytes = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        size_bytes += corpus->items[row].id_bytes;
    cog_status status = make_room_for_ids(draft, corpus->rows, size_bytes, error);
    for (size_t row = 0; status == COG_OK && row < corpus->rows; row++)
        append_id(draft, row, corpus_id(corpus, row));
    return status == COG_OK ? index_ids(draft, error) : status;
}

/* Numbers as ids. */
static cog_status number_rows(struct segment_draft *draft, uint64_t first_id, cog_error *error) {
    enum { DIGITS_MAX = 20 };
    char text[DIGITS_MAX + 1];
    size_t rows = draft->segment.rows, size_bytes = 0;
    for (size_t row = 0; row < rows; row++)
        size_bytes +=
            (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)first_id + row);
    cog_status status = make_room_for_ids(draft, rows, size_bytes, error);
    for (size_t row = 0; status == COG_OK && row < rows; row++) {
        int length = snprintf(text, sizeof text, "%llu", (unsigned long long)first_id + row);
        append_id(draft, row, view_of(text, (size_t)length));
    }
    return status == COG_OK ? index_ids(draft, error) : status;
}

/* Margins take much memory: only a method that cannot do without them gets them. */
static cog_status make_room_for_sums(const cog_index *index, size_t rows, float **sums,
                                     cog_error *error) {
    const char *name = "auto";
    settings_get_text(&index->parts.manifest.settings, "index method", &name);
    const struct search_method *method = method_of(method_named(name));
    if (!method || !(method->needs & NEEDS_ROW_MARGINS))
        return COG_OK;
    return TAKEN(*sums, rows * index_bits(index), "margins", error);
}

cog_status segment_draft_documents(const cog_index *index, const struct corpus *corpus,
                                   unsigned threads, struct segment_draft *draft,
                                   cog_error *error) {
    struct statistics *statistics = index->statistics->counts;
    float *sums = NULL;
    draft->segment.rows = corpus->rows;
    cog_status status = take_settings(index, draft, error);
    THEN(status, make_room_for_sums(index, corpus->rows, &sums, error));
    THEN(status, corpus_sign(&(struct signable_rows){.corpus = corpus, .count = corpus->rows},
                             &index->sign, statistics, threads, &draft->segment.signatures, sums,
                             index_bits(index), error));
    draft->memory.signatures = (uint8_t *)draft->segment.signatures.data;
    if (status == COG_OK && index->has_vectors)
        status = corpus_vectors_in(corpus, index->columns, statistics, &index->weighting, 1, NULL,
                                   threads, &draft->memory.vectors, error);
    draft->segment.vectors = draft->memory.vectors;
    THEN(status, copy_ids(corpus, draft, error));
    THEN(status, add_tables(index, sums, threads, draft, error));
    free(sums);
    return status;
}

cog_status segment_draft_signatures(const cog_index *index, const struct signatures_view *rows,
                                    uint64_t first_id, bool want_ids, unsigned threads,
                                    struct segment_draft *draft, cog_error *error) {
    draft->segment.rows = rows->rows;
    draft->segment.signatures = *rows;
    cog_status status = take_settings(index, draft, error);
    if (status == COG_OK && (want_ids || first_id))
        status = number_rows(draft, first_id, error);
    return status == COG_OK ? add_tables(index, index->build_weights, threads, draft, error)
                            : status;
}

/* ---- Merging --------------------------------------------------------------------------------- */

/* How much the rows that stay take. */
struct merged_size {
    size_t rows, id_bytes;
    uint64_t entries; /* of the vectors */
};

/* Calls take for every row that stays, in order. */
typedef cog_status row_taker(void *context, size_t part, uint32_t row, cog_error *error);
static cog_status visit_live_rows(const cog_index *index, row_taker *take, void *context,
                                  cog_error *error) {
    cog_status status = COG_OK;
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        size_t removed = 0;
        for (uint32_t row = 0; row < entry->rows && status == COG_OK; row++) {
            if (removed < entry->removed_count && entry->removed[removed] == row)
                removed++;
            else
                status = take(context, part, row, error);
        }
    }
    return status;
}

struct merge {
    const cog_index *index;
    struct merged_size size;
    struct segment_draft *draft;
    size_t row; /* next of the draft */
};

static cog_status damaged_row(const struct merge *merge, size_t part, uint32_t row,
                              cog_error *error) {
    return error_set(error, COG_ERR_FORMAT, "%s: row %u is damaged; cognate index check tells more",
                     merge->index->parts.segments[part].container.path, row);
}

/* A row without an id is known by its number in the whole index. */
static struct bytes_view name_row(const cog_index *index, size_t part, uint32_t row,
                                  char text[24]) {
    struct bytes_view id;
    if (segment_id(&index->parts.segments[part], row, &id))
        return id;
    uint64_t first = 0;
    for (size_t i = 0; i < part; i++)
        first += index->parts.manifest.entries[i].rows;
    int length = snprintf(text, 24, "%llu", (unsigned long long)first + row);
    return view_of(text, (size_t)length);
}

static cog_status measure_row(void *context, size_t part, uint32_t row, cog_error *error) {
    struct merge *merge = context;
    const uint32_t *columns;
    const float *values;
    size_t count;
    char text[24];
    merge->size.rows++;
    merge->size.id_bytes += name_row(merge->index, part, row, text).size;
    if (!merge->index->has_vectors)
        return COG_OK;
    if (!index_row_vector(merge->index, part, row, &columns, &values, &count))
        return damaged_row(merge, part, row, error);
    merge->size.entries += count;
    return COG_OK;
}

static cog_status merge_row(void *context, size_t part, uint32_t row, cog_error *error) {
    struct merge *merge = context;
    const struct segment *from = &merge->index->parts.segments[part];
    struct segment_memory *to = &merge->draft->memory;
    size_t stride = merge->draft->segment.signatures.stride_bytes;
    char text[24];
    append_id(merge->draft, merge->row, name_row(merge->index, part, row, text));
    memcpy(to->signatures + merge->row * stride, signature_row(&from->signatures, row), stride);
    if (merge->index->has_vectors) {
        const uint32_t *columns;
        const float *values;
        size_t count;
        uint64_t at = to->vectors.offsets[merge->row];
        if (!index_row_vector(merge->index, part, row, &columns, &values, &count))
            return damaged_row(merge, part, row, error);
        memcpy(to->vectors.columns + at, columns, count * sizeof *columns);
        memcpy(to->vectors.values + at, values, count * sizeof *values);
        to->vectors.offsets[merge->row + 1] = at + count;
    }
    merge->row++;
    return COG_OK;
}

static cog_status make_room_for_rows(struct merge *merge, cog_error *error) {
    struct segment_memory *memory = &merge->draft->memory;
    struct segment *segment = &merge->draft->segment;
    size_t rows = merge->size.rows, stride = signature_stride_bytes(index_bits(merge->index));
    segment->rows = rows;
    TAKE(memory->signatures, rows * stride, "merged segments", error);
    segment->signatures =
        (struct signatures_view){memory->signatures, rows, index_bits(merge->index), stride};
    if (merge->index->has_vectors) {
        struct sparse_matrix *vectors = &memory->vectors;
        vectors->rows = rows;
        vectors->column_count = term_numbers_count(merge->index->columns);
        TAKE_ZEROED(vectors->offsets, rows + 1, "merged segments", error);
        TAKE(vectors->columns, merge->size.entries, "merged segments", error);
        TAKE(vectors->values, merge->size.entries, "merged segments", error);
        segment->vectors = *vectors;
    }
    return make_room_for_ids(merge->draft, rows, merge->size.id_bytes, error);
}

cog_status segment_draft_merged(const cog_index *index, unsigned threads,
                                struct segment_draft *draft, cog_error *error) {
    struct merge merge = {.index = index, .draft = draft};
    cog_status status = take_settings(index, draft, error);
    THEN(status, visit_live_rows(index, measure_row, &merge, error));
    THEN(status, make_room_for_rows(&merge, error));
    THEN(status, visit_live_rows(index, merge_row, &merge, error));
    THEN(status, index_ids(draft, error));
    return status == COG_OK ? add_tables(index, NULL, threads, draft, error) : status;
}

/* ---- The index ------------------------------------------------------------------------------- */

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
    statistics_release(index->statistics);
    term_numbers_free(index->columns);
    free(index->folder);
    free(index);
}

/* ---- Building -------------------------------------------------------------------------------- */

static cog_status check_options(cog_index_options *options, bool documents, cog_error *error) {
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
    if (documents && options->sign.signature.kind == COG_SIGNATURE_MINHASH)
        return error_set(error, COG_ERR_USAGE,
                         "minhash signatures do not tell a cosine: use rp, simhash or topsig");
    return COG_OK;
}

/* Completes the knobs for the rows. */
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
            TRY(settings_set_u64(settings, knob_record(method, i), knob_or(&options->knobs, i, 0),
                                 error));
        }
    return COG_OK;
}

/* A streamed index has its signatures and knows what searches are to build. */
static void prepare_stream(cog_index *index, cog_index_options *options) {
    const struct search_method *method = method_of(options->method);
    if (!options->streamed || !method || !method->is_for_radius)
        return;
    index->streamed = method;
    index->streamed_knobs = options->knobs;
    index->streamed_radius_bits = options->radius_bits;
    options->method = COG_METHOD_FLAT;
}

/* Signatures, tables, and what building the tables takes for a while. */
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
    if (status == COG_OK) {
        report_stage(report, "indexing", clock_seconds_since(start_ns));
        report_index(index, report);
    }
    return HAND_OUT(status, index, cog_index_close, result);
}

cog_status index_mark_empty(const cog_index *index, const struct corpus *corpus, uint8_t *is_empty,
                            size_t *unknown, cog_error *error) {
    size_t most = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        if (corpus->items[row].term_count > most)
            most = corpus->items[row].term_count;
    float *weights;
    TAKE(weights, most + 1, "weights", error);
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
    uint8_t *is_empty;
    TAKE(is_empty, corpus->rows, "documents", error);
    cog_status status = index_mark_empty(index, corpus, is_empty, &unknown, error);
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

static cog_status index_corpus(cog_index *index, struct corpus *corpus, cog_index_options *options,
                               const cog_run_options *run, struct segment_draft *draft,
                               cog_report *report, cog_error *error) {
    struct settings *settings = &index->parts.manifest.settings;
    unsigned threads = threads_resolve(run ? run->threads : 0);
    progress_show("indexing");
    cog_status status =
        index_collect_statistics(index, corpus, &options->sign.terms, threads, error);
    THEN(status, complete_knobs(options, corpus->rows, options->sign.signature.bits, error));
    THEN(status, record_method(options, settings, error));
    THEN(status, record_documents(index, options, settings, error));
    THEN(status, index_interpret_settings(index, error));
    THEN(status, index_make_columns(index, error));
    THEN(status, index_drop_empty_rows(index, corpus, report, error));
    THEN(status, segment_draft_documents(index, corpus, threads, draft, error));
    return status;
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
    TRY(check_given(documents, "documents", error));
    TRY(check_given(asked, "options", error));
    TRY(options_check_reserved(asked->reserved, 4, "index", error));
    cog_index_options copy = *asked, *options = &copy;
    struct corpus corpus = {0};
    struct segment_draft draft = {0};
    struct term_options terms;
    cog_index *index;
    TRY(check_options(options, true, error));
    TRY(options_terms(&options->sign.terms, &terms, error));
    TRY(index_check_memory(documents, run, report, error));
    TAKE_ZEROED(index, 1, "an index", error);
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    struct job job;
    job_begin(&job, run, report);
    cog_status status = corpus_read(&corpus, documents, &reading, run, report, error);
    uint64_t start = clock_ns();
    THEN(status, index_corpus(index, &corpus, options, run, &draft, report, error));
    job_end(&job);
    corpus_free(&corpus);
    return finish_building(index, &draft, status, start, result, report, error);
}

cog_status cog_index_build_signatures(const cog_signatures *signatures,
                                      const cog_index_options *asked, const cog_run_options *run,
                                      cog_index **result, cog_report *report, cog_error *error) {
    TRY(check_given(signatures, "signatures", error));
    TRY(check_given(asked, "options", error));
    TRY(options_check_reserved(asked->reserved, 4, "index", error));
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
    TAKE_ZEROED(index, 1, "an index", error);
    struct settings *settings = &index->parts.manifest.settings;
    struct job job;
    job_begin(&job, run, report);
    index->build_weights = options->weights;
    cog_status status = complete_knobs(options, rows->rows, rows->bits, error);
    prepare_stream(index, options);
    THEN(status, record_method(options, settings, error));
    THEN(status, settings_set_text(settings, "signature", "given", error));
    THEN(status, settings_set_u64(settings, "bits", rows->bits, error));
    THEN(status, index_interpret_settings(index, error));
    THEN(status, segment_draft_signatures(index, rows, 0, false, threads, &draft, error));
    index->build_weights = NULL;
    job_end(&job);
    return finish_building(index, &draft, status, start, result, report, error);
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
    const struct segment *first = manifest->count ? &index->parts.segments[0] : NULL;
    for (unsigned i = 0; first && i < first->table_count; i++)
        if (first->tables[i].method->describe)
            first->tables[i].method->describe(first->tables[i].data, info);
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

#include "jobs/index/index_draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "collection/row_signer.h"
#include "plan/method_choice.h"

void segment_draft_free(struct segment_draft *draft) {
    segment_close(&draft->segment);
    segment_memory_free(&draft->memory);
    scratch_memory_free(draft->scratch, draft->scratch_bytes);
    FREE(draft->own_weights, draft->own_margins);
    *draft = (struct segment_draft){0};
}

const char *draft_knob_record(const struct search_method *method, unsigned knob) {
    return method->knob_records ? method->knob_records[knob] : method->knobs[knob].name;
}

/* Reads the knobs that the index was built with, and the radius. */
static void read_knobs(const struct settings *settings, cog_method number,
                       const struct search_method *method, cog_knobs *knobs,
                       uint64_t *radius_bits) {
    *knobs = (cog_knobs){.method = number};
    settings_get_u64(settings, "radius", radius_bits);
    for (unsigned i = 0; i < method->knob_count; i++) {
        uint64_t value = 0;
        if ((method->knobs[i].uses & COG_KNOB_BUILD) &&
            settings_get_u64(settings, draft_knob_record(method, i), &value) && value)
            knob_set(knobs, i, value);
    }
}

/* Whether comparing all rows is as fast as looking them up. */
static bool has_few_rows(const struct segment *segment) {
    enum { FEW_ROWS = 1024, FEW_BYTES = 1 << 16 };
    return segment->rows < FEW_ROWS || segment->rows * segment->signatures.stride_bytes < FEW_BYTES;
}

cog_status draft_add_tables(const cog_index *index, const float *margins,
                            const struct segment *earlier, unsigned threads,
                            struct segment_draft *draft, cog_error *error) {
    const struct settings *settings = &index->parts.manifest.settings;
    const char *name = "auto";
    settings_get_text(settings, "index method", &name);
    cog_method number = method_named(name);
    if (number == COG_METHOD_AUTO)
        number = method_for_index(draft->segment.rows,
                                  index->has_documents && !index_is_of_minhash(index));
    const struct search_method *method = method_of(number);
    cog_knobs knobs;
    uint64_t radius_bits = 0;
    if (!method->build)
        return COG_OK;
    if (index->puts_tables_off && has_few_rows(&draft->segment) && earlier &&
        segment_tables(earlier, method))
        return COG_OK;
    read_knobs(settings, number, method, &knobs, &radius_bits);
    struct method_build build = {.rows = segment_method_rows(&draft->segment),
                                 .radius_bits = (uint32_t)radius_bits,
                                 .knobs = &knobs,
                                 .earlier = earlier ? segment_tables(earlier, method) : NULL,
                                 .threads = threads};
    build.rows.margins = margins;
    struct method_tables *tables = &draft->segment.tables[0];
    tables->method = method;
    TRY(method_build(method, &build, &tables->data, error));
    draft->segment.table_count = 1;
    return COG_OK;
}

cog_status draft_take_settings(const cog_index *index, struct segment_draft *draft,
                               cog_error *error) {
    return settings_copy_some(&draft->segment.settings, &index->parts.manifest.settings,
                              MANIFEST_LEXICON, false, error);
}

/* Reserves room for ids of this total size; then append them one by one; then make the table that
 * finds them. */
static cog_status draft_make_room_for_ids(struct segment_draft *draft, size_t rows,
                                          size_t size_bytes, cog_error *error) {
    struct segment_memory *memory = &draft->memory;
    TAKE_ZEROED(memory->id_offsets, rows + 1, "ids", error);
    TAKE(memory->id_bytes, size_bytes, "ids", error);
    draft->segment.id_offsets = memory->id_offsets;
    draft->segment.id_bytes = view_of(memory->id_bytes, size_bytes);
    return COG_OK;
}

static void draft_append_id(struct segment_draft *draft, size_t row, struct bytes_view id) {
    uint64_t at = draft->memory.id_offsets[row];
    if (id.size)
        memcpy(draft->memory.id_bytes + at, id.data, id.size);
    draft->memory.id_offsets[row + 1] = at + id.size;
}

/* Requires all ids. */
cog_status draft_index_ids(struct segment_draft *draft, cog_error *error) {
    cog_status status = id_buckets_build(&draft->segment, &draft->memory.id_buckets, error);
    draft->segment.id_buckets = draft->memory.id_buckets;
    return status;
}

cog_status draft_copy_ids(const struct corpus *corpus, struct segment_draft *draft,
                          cog_error *error) {
    size_t size_bytes = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        size_bytes += corpus->items[row].id_bytes;
    cog_status status = draft_make_room_for_ids(draft, corpus->rows, size_bytes, error);
    for (size_t row = 0; status == COG_OK && row < corpus->rows; row++)
        draft_append_id(draft, row, corpus_id(corpus, row));
    return status == COG_OK ? draft_index_ids(draft, error) : status;
}

/* Sets numbers as ids. */
static cog_status number_rows(struct segment_draft *draft, uint64_t first_id, cog_error *error) {
    char text[NUMBER_DIGITS_MOST];
    size_t rows = draft->segment.rows, size_bytes = 0;
    for (size_t row = 0; row < rows; row++)
        size_bytes += number_digits(first_id + row, text);
    cog_status status = draft_make_room_for_ids(draft, rows, size_bytes, error);
    for (size_t row = 0; status == COG_OK && row < rows; row++)
        draft_append_id(draft, row, view_of(text, number_digits(first_id + row, text)));
    return status == COG_OK ? draft_index_ids(draft, error) : status;
}

bool draft_wants_margins(const cog_index *index) {
    const char *name = "auto";
    settings_get_text(&index->parts.manifest.settings, "index method", &name);
    const struct search_method *method = method_of(method_named(name));
    return method && method->needs & NEEDS_ROW_MARGINS;
}

static cog_status make_room_for_sums(const cog_index *index, size_t rows, float **sums,
                                     cog_error *error) {
    if (!draft_wants_margins(index))
        return COG_OK;
    return TAKEN(*sums, rows * index_bits(index), "margins", error);
}

/* Adds the documents' terms with their counts, and the frequencies of each document. */
static cog_status add_terms(const cog_index *index, const struct corpus *corpus, unsigned threads,
                            struct segment_draft *draft, cog_error *error) {
    struct segment_memory *memory = &draft->memory;
    struct statistics *own = NULL, *present = NULL;
    struct term_numbers *columns = NULL;
    cog_status status = corpus_statistics(&corpus, 1, threads, &own, error);
    if (status == COG_OK && corpus->weights)
        status = corpus_presence(corpus, threads, &present, error);
    const struct statistics *numbered = present ? present : own;
    THEN(status, term_numbers_create(numbered, 1, 0, &columns, error));
    THEN(status, segment_terms_build(numbered, own, columns, index->statistics->counts,
                                     &index->weighting, &memory->terms, error));
    if (status == COG_OK && index->has_vectors)
        status = corpus_frequencies_in(corpus, columns, threads, &memory->vectors, error);
    THEN(status, TAKEN(memory->lengths, corpus->rows + 1, "documents", error));
    for (size_t row = 0; row < corpus->rows && status == COG_OK; row++)
        memory->lengths[row] = corpus->items[row].length;
    memory->terms.has_weights = corpus->weights != NULL;
    memory->terms.signed_state = index->statistics->state;
    draft->segment.terms = memory->terms;
    draft->segment.lengths = memory->lengths;
    draft->segment.vectors = memory->vectors;
    statistics_free(own);
    statistics_free(present);
    term_numbers_free(columns);
    return status;
}

/* The words of each row, as they lie in the log, and its id. */
static cog_status draft_given_rows(const cog_index *index, const struct corpus *corpus,
                                   const struct segment *earlier, unsigned threads,
                                   struct segment_draft *draft, cog_error *error) {
    const unsigned bits = index_bits(index);
    const size_t stride_bytes = signature_stride_bytes(bits);
    draft->segment.rows = corpus->rows;
    TAKE(draft->memory.signatures, corpus->rows * stride_bytes, "signatures", error);
    for (size_t row = 0; row < corpus->rows; row++)
        memcpy(draft->memory.signatures + row * stride_bytes, corpus_bag(corpus, row).hashes,
               stride_bytes);
    draft->segment.signatures =
        (struct signatures_view){draft->memory.signatures, corpus->rows, bits, stride_bytes};
    cog_status status = draft_take_settings(index, draft, error);
    THEN(status, draft_copy_ids(corpus, draft, error));
    THEN(status, draft_add_tables(index, NULL, earlier, threads, draft, error));
    THEN(status, draft_measure_recall(index, NULL, NULL, threads, draft, error));
    return status;
}

cog_status segment_draft_documents(const cog_index *index, const struct corpus *corpus,
                                   const struct segment *earlier, unsigned threads,
                                   struct segment_draft *draft, cog_error *error) {
    float *sums = NULL;
    if (index_is_of_sets(index))
        return segment_draft_sets(index, corpus, threads, draft, error);
    if (!index->has_documents)
        return draft_given_rows(index, corpus, earlier, threads, draft, error);
    draft->segment.rows = corpus->rows;
    cog_status status = draft_take_settings(index, draft, error);
    THEN(status, make_room_for_sums(index, corpus->rows, &sums, error));
    THEN(status, corpus_sign(&(struct signable_rows){.corpus = corpus, .count = corpus->rows},
                             &index->sign, index->statistics->counts, threads,
                             &draft->segment.signatures, sums, index_bits(index), error));
    draft->memory.signatures = (uint8_t *)draft->segment.signatures.data;
    if (!index_is_of_minhash(index))
        THEN(status, add_terms(index, corpus, threads, draft, error));
    THEN(status, draft_copy_ids(corpus, draft, error));
    THEN(status, draft_add_tables(index, sums, earlier, threads, draft, error));
    const bool has_margins = !index->has_vectors && !index_is_of_minhash(index);
    THEN(status,
         draft_measure_recall(index, has_margins ? corpus : NULL, sums, threads, draft, error));
    free(sums);
    return status;
}

cog_status segment_draft_signatures(const cog_index *index, const struct signatures_view *rows,
                                    uint64_t first_id, bool want_ids, unsigned threads,
                                    struct segment_draft *draft, cog_error *error) {
    draft->segment.rows = rows->rows;
    draft->segment.signatures = *rows;
    cog_status status = draft_take_settings(index, draft, error);
    if (status == COG_OK && (want_ids || first_id))
        status = number_rows(draft, first_id, error);
    const struct segment *earlier = index->parts.manifest.count ? index->parts.segments : NULL;
    THEN(status, draft_add_tables(index, index->build_weights, earlier, threads, draft, error));
    THEN(status, draft_measure_recall(index, NULL, index->build_weights, threads, draft, error));
    return status;
}

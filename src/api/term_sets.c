/* Term sets: the public functions of cognate_batch.h that return the sets of documents, and those
 * that an index has. */
#include <string.h>

#include "api/arrow_table.h"
#include "base/arguments.h"
#include "collection/options.h"
#include "collection/sets/document_sets.h"
#include "jobs/index/index_job.h"
#include "run/job.h"

static void copy_members(int64_t *to, const uint64_t *members, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (int64_t)members[i];
}

/* Lists of terms and of words, whose sizes the rows have. */
static cog_status fill_sets(const struct document_sets *sets, struct arrow_table *table,
                            cog_error *error) {
    struct set_cursor cursor = {.end = sets->count};
    const struct loaded_sets *loaded;
    size_t totals[2] = {0};
    for (size_t row = 0; row < sets->count; row++) {
        totals[0] += sets->rows[row].terms;
        totals[1] += sets->rows[row].words;
    }
    if (totals[0] > INT32_MAX || totals[1] > INT32_MAX)
        return error_set(error, COG_ERR_INPUT, "more than 2 billion terms in a batch: split it");
    struct arrow_list terms = arrow_table_list(table, "terms", totals[0]);
    struct arrow_list words = arrow_table_list(table, "words", totals[1]);
    cog_status status = COG_OK;
    for (size_t row = 0; row < sets->count && status == COG_OK && words.offsets; row++) {
        status = set_cursor_next(&cursor, &sets->file, &loaded, error);
        if (status != COG_OK)
            break;
        copy_members(terms.items + terms.offsets[row], loaded->terms, loaded->term_count);
        copy_members(words.items + words.offsets[row], loaded->words, loaded->word_count);
        terms.offsets[row + 1] = terms.offsets[row] + (int32_t)loaded->term_count;
        words.offsets[row + 1] = words.offsets[row] + (int32_t)loaded->word_count;
    }
    set_cursor_free(&cursor);
    return status;
}

/* The ids of all rows. */
static cog_status fill_ids(const struct document_sets *sets, struct arrow_table *table,
                           cog_error *error) {
    struct arrow_table_column *column = arrow_table_text(table, "id");
    struct buffer id = {0};
    cog_status status = COG_OK;
    for (size_t row = 0; row < sets->count && column && status == COG_OK; row++) {
        id.size = 0;
        status = set_file_id(&sets->file, row, &id, error);
        if (status == COG_OK)
            arrow_table_append(table, column, view_of(id.data, id.size));
    }
    buffer_free(&id);
    return status;
}

static cog_status export_sets(const struct document_sets *sets, bool with_ids,
                              struct ArrowArrayStream *stream, cog_error *error) {
    enum { FINGERPRINT_BYTES = sizeof(struct fingerprint) };
    struct arrow_table table = {.rows = sets->count};
    int64_t *rows = arrow_table_int64(&table, "row");
    cog_status status = fill_sets(sets, &table, error);
    int64_t *bytes = arrow_table_int64(&table, "text_bytes");
    uint8_t *prints = arrow_table_bytes(&table, "fingerprint", FINGERPRINT_BYTES);
    for (size_t row = 0; row < sets->count && prints; row++) {
        rows[row] = sets->facts[row].record;
        bytes[row] = sets->facts[row].text_bytes;
        memcpy(prints + row * FINGERPRINT_BYTES, &sets->fingerprints[row], FINGERPRINT_BYTES);
    }
    if (with_ids)
        THEN(status, fill_ids(sets, &table, error));
    if (status != COG_OK)
        arrow_table_discard(&table);
    return status == COG_OK ? arrow_table_finish(&table, stream, error) : status;
}

cog_status cog_term_sets(cog_documents *documents, const cog_term_options *terms,
                         cog_measure measure, const cog_run_options *run,
                         struct ArrowArrayStream *stream, cog_report *report, cog_error *error) {
    struct term_options own;
    struct document_sets sets = {0};
    struct job job;
    TRY(check_given(documents, "documents", error));
    TRY(check_given(terms, "terms", error));
    TRY(check_given(stream, "stream", error));
    TRY(check_enum(measure, COG_MEASURE_CONTAINMENT + 1, "measure", error));
    TRY(options_set_terms(terms, measure, &own, error));
    job_begin(&job, run, report);
    cog_status status = document_sets_open(&sets, "-", error);
    THEN(status, document_sets_read(&sets, documents, &own, true, NULL, &job, error));
    THEN(status, export_sets(&sets, false, stream, error));
    document_sets_close(&sets);
    job_end(&job);
    return status;
}

/* ---- Of an index ----------------------------------------------------------------------------- */

static cog_status check_index(const cog_index *index, const cog_term_options *terms,
                              cog_measure measure, cog_error *error) {
    cog_pairs_options expected;
    TRY(check_given(index, "index", error));
    TRY(check_given(terms, "terms", error));
    TRY(check_enum(measure, COG_MEASURE_CONTAINMENT + 1, "measure", error));
    if (!index_is_of_sets(index) || index->measure != measure)
        return error_about(error, COG_ERR_USAGE, "index",
                           "the index was built with another measure, or holds signatures alone: "
                           "build one of sets, with the measure jaccard or containment, and "
                           "compare by the same");
    cog_pairs_options_init(&expected, measure);
    expected.sign.terms = *terms;
    TRY(cog_index_expect(index, &expected.sign, error));
    return index_prepare(index, error);
}

cog_status cog_index_term_sets(const cog_index *index, const cog_term_options *terms,
                               cog_measure measure, uint64_t first, uint64_t count,
                               struct ArrowArrayStream *stream, cog_error *error) {
    struct document_sets sets = {0};
    TRY(check_index(index, terms, measure, error));
    TRY(check_given(stream, "stream", error));
    cog_status status = document_sets_open(&sets, NULL, error);
    THEN(status, index_append_sets(index, first, count, &sets, error));
    THEN(status, export_sets(&sets, true, stream, error));
    document_sets_close(&sets);
    return status;
}

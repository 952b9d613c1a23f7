/* Documents and statistics of collections: the public functions. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/numbers.h"
#include "collection/ingest.h"
#include "collection/options.h"
#include "collection/statistics_job.h"
#include "input/click_table.h"
#include "jobs/lexicon/lexicon_job.h"
#include "vector/statistics.h"

void cog_input_options_init(cog_input_options *options) {
    *options = (cog_input_options){
        .format = COG_FORMAT_AUTO, .text_field = "text", .id_field = "id", .lang_field = "lang"};
}

cog_status cog_documents_open(const cog_input_options *options, const char *const *paths,
                              size_t path_count, cog_documents **result, cog_error *error) {
    struct reader_options reader_options;
    TRY(check_given(options, "options", error));
    TRY(check_given(paths, "paths", error));
    TRY(check_given(result, "documents", error));
    TRY(options_check_reserved(options->reserved, 4, "input", error));
    TRY(check_enum((unsigned)options->format, COG_FORMAT_NPY + 1, "format", error));
    reader_options_init(&reader_options);
    reader_options.format = (enum input_format)options->format;
    reader_options.lines = options->lines;
    reader_options.text_field = options->text_field;
    reader_options.id_field = options->id_field;
    reader_options.lang_field = options->lang_field;
    reader_options.delimiter = options->delimiter;
    reader_options.no_header = options->no_header;
    cog_documents *documents;
    TAKE_ZEROED(documents, 1, "documents", error);
    documents->strict = options->strict;
    cog_status status = reader_open(&reader_options, paths, path_count, &documents->source, error);
    documents->reader = documents->source;
    if (status == COG_OK && !options->read_once)
        reader_keep_pipes(documents->source);
    return HAND_OUT(status, documents, cog_documents_close, result);
}

cog_status cog_documents_from_memory(const cog_document *items, size_t count,
                                     cog_documents **result, cog_error *error) {
    struct document_table *table = NULL;
    TRY(check_given(result, "documents", error));
    if (count)
        TRY(check_given(items, "items", error));
    TRY(document_table_of_items(items, count, &table, error));
    return documents_of_table(table, false, result, error);
}

cog_status cog_documents_from_arrow(struct ArrowArrayStream *stream,
                                    const cog_input_options *options, cog_documents **result,
                                    cog_error *error) {
    struct document_table *table = NULL;
    struct query_log *log = NULL;
    uint64_t log_rows = 0;
    cog_input_options usual;
    TRY(check_given(stream, "stream", error));
    TRY(check_given((const void *)stream->release, "the stream's release", error));
    cog_status status = check_given(result, "documents", error);
    cog_input_options_init(&usual);
    options = options ? options : &usual;
    THEN(status, options_check_reserved(options->reserved, 4, "input", error));
    THEN(status, check_enum((unsigned)options->format, COG_FORMAT_NPY + 1, "format", error));
    if (status != COG_OK) {
        stream->release(stream);
        return status;
    }
    if (options->format == COG_FORMAT_QUERYLOG) {
        TRY(query_log_of_stream(stream, &log, &log_rows, error));
        return documents_of_log(log, log_rows, options->strict, result, error);
    }
    const struct table_fields fields = {options->text_field, options->id_field, options->lang_field,
                                        options->first_number};
    TRY(document_table_of_stream(stream, &fields, &table, error));
    return documents_of_table(table, options->strict, result, error);
}

cog_status cog_documents_project(cog_documents *documents, const cog_lexicon *lexicon,
                                 const cog_projection_options *options, cog_error *error) {
    cog_projection_options usual;
    struct foreign_documents *foreign = NULL;
    TRY(check_given(documents, "documents", error));
    TRY(check_given(lexicon, "lexicon", error));
    cog_projection_options_init(&usual);
    TRY(foreign_documents_create(&lexicon->table, options ? options : &usual, &foreign, error));
    foreign_documents_free(documents->foreign);
    documents->foreign = foreign;
    return COG_OK;
}

size_t cog_documents_count(const cog_documents *documents) {
    const struct document_table *table = documents ? reader_table(documents->source) : NULL;
    return table ? document_table_rows(table) : 0;
}

size_t cog_documents_skipped(cog_documents *documents, const uint64_t **positions) {
    if (!documents)
        return 0;
    if (documents->skipped_count)
        qsort(documents->skipped, documents->skipped_count, sizeof *documents->skipped,
              compare_u64);
    if (positions)
        *positions = documents->skipped;
    return documents->skipped_count;
}

void cog_documents_close(cog_documents *documents) {
    documents_close(documents);
}

cog_status cog_statistics_collect(cog_documents *documents, const cog_term_options *terms,
                                  const cog_run_options *run, cog_statistics **result,
                                  cog_report *report, cog_error *error) {
    TRY(check_given(documents, "documents", error));
    TRY(check_given(terms, "terms", error));
    TRY(check_given(result, "statistics", error));
    return statistics_collect(documents, terms, run, NULL, result, report, error);
}

cog_status cog_statistics_merge(cog_statistics *statistics, const cog_statistics *other,
                                cog_error *error) {
    TRY(check_given(statistics, "statistics", error));
    TRY(check_given(other, "other", error));
    char difference[SETTINGS_DIFFERENCE_BYTES];
    if (!settings_equal(&statistics->terms, &other->terms, difference))
        return error_set(error, COG_ERR_USAGE, "statistics of other terms do not merge: %s",
                         difference);
    return statistics_merge(statistics->counts, other->counts, error);
}

cog_status cog_statistics_save(const cog_statistics *statistics, const char *path,
                               cog_error *error) {
    TRY(check_given(statistics, "statistics", error));
    TRY(check_given(path, "path", error));
    return statistics_save(statistics->counts, &statistics->terms, path, error);
}

cog_status cog_statistics_open(const char *path, const cog_term_options *terms,
                               cog_statistics **result, cog_error *error) {
    TRY(check_given(path, "path", error));
    TRY(check_given(terms, "terms", error));
    TRY(check_given(result, "statistics", error));
    return statistics_read(path, terms, result, error);
}

uint64_t cog_statistics_documents(const cog_statistics *statistics) {
    return statistics_document_count(statistics->counts);
}

void cog_statistics_free(cog_statistics *statistics) {
    statistics_release(statistics);
}

/* Word-translation tables: the public functions. */
#include <stdlib.h>

#include "base/arguments.h"
#include "collection/foreign_documents.h"
#include "collection/options.h"
#include "crosslingual/aligner.h"
#include "input/documents/text_bytes.h"
#include "input/parallel/pair_reader.h"
#include "input/parallel/table_reader.h"
#include "jobs/lexicon/lexicon_job.h"
#include "run/job.h"

_Static_assert((int)COG_PAIRS_PO == (int)PAIRS_PO, "formats of parallel text");
_Static_assert((int)COG_TABLE_BITEXTOR == (int)TABLE_BITEXTOR, "formats of tables");

void cog_lexicon_options_init(cog_lexicon_options *options) {
    struct aligner_options aligner;
    aligner_options_init(&aligner);
    *options = (cog_lexicon_options){.max_entries = 15,
                                     .mass = 0.95,
                                     .model1_iterations = aligner.model1_iterations,
                                     .agreement_iterations = aligner.agreement_iterations,
                                     .null_probability = aligner.null_probability,
                                     .diagonal = aligner.diagonal,
                                     .min_count = 2,
                                     .max_words = 70};
    cog_term_options_init(&options->terms);
    options->terms.drop_stop_words = false;
}

static cog_status check_paths(const char *const *paths, size_t path_count,
                              const cog_lexicon_options *options, const void *result,
                              cog_error *error) {
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "lexicon", error));
    TRY(options_check_reserved(options->reserved, 4, "lexicon", error));
    TRY(check_enum(options->format, COG_PAIRS_PO + 1, "format of parallel text", error));
    return path_count ? check_given(paths, "paths", error) : COG_OK;
}

cog_status cog_lexicon_train(const char *const *paths, size_t path_count,
                             const cog_lexicon_options *options, const cog_run_options *run,
                             cog_lexicon **result, cog_report *report, cog_error *error) {
    cog_lexicon *lexicon = NULL;
    struct job job;
    TRY(check_paths(paths, path_count, options, result, error));
    TAKE_ZEROED(lexicon, 1, "a lexicon", error);
    job_begin(&job, run, report);
    cog_status status = lexicon_train(&lexicon->table, &job, paths, path_count, options, error);
    job_end(&job);
    return HAND_OUT(status, lexicon, cog_lexicon_free, result);
}

cog_status cog_lexicon_convert(const char *const *paths, size_t path_count, cog_table_format format,
                               const cog_lexicon_options *options, cog_lexicon **result,
                               cog_report *report, cog_error *error) {
    cog_lexicon *lexicon = NULL;
    TRY(check_paths(paths, path_count, options, result, error));
    TRY(check_enum(format, COG_TABLE_BITEXTOR + 1, "format of tables", error));
    TAKE_ZEROED(lexicon, 1, "a lexicon", error);
    cog_status status =
        lexicon_convert(&lexicon->table, paths, path_count, format, options, report, error);
    return HAND_OUT(status, lexicon, cog_lexicon_free, result);
}

cog_status cog_lexicon_save(const cog_lexicon *lexicon, const char *path, cog_error *error) {
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(path, "path", error));
    return lexicon_save(&lexicon->table, path, error);
}

cog_status cog_lexicon_open(const char *path, cog_lexicon **result, cog_error *error) {
    cog_lexicon *lexicon = NULL;
    TRY(check_given(path, "path", error));
    TRY(check_given(result, "lexicon", error));
    TAKE_ZEROED(lexicon, 1, "a lexicon", error);
    cog_status status = lexicon_load(path, &lexicon->table, error);
    return HAND_OUT(status, lexicon, cog_lexicon_free, result);
}

void cog_lexicon_free(cog_lexicon *lexicon) {
    if (!lexicon)
        return;
    lexicon_free(&lexicon->table);
    free(lexicon);
}

static const char *language_of(const cog_lexicon *lexicon, const char *side) {
    const char *language = "";
    settings_get_text(&lexicon->table.settings, side, &language);
    return language;
}

const char *cog_lexicon_from(const cog_lexicon *lexicon) {
    return language_of(lexicon, "from");
}

const char *cog_lexicon_to(const cog_lexicon *lexicon) {
    return language_of(lexicon, "to");
}

uint64_t cog_lexicon_checksum(const cog_lexicon *lexicon) {
    return lexicon_checksum(&lexicon->table);
}

size_t cog_lexicon_words(const cog_lexicon *lexicon) {
    return lexicon->table.from.count;
}

size_t cog_lexicon_entries(const cog_lexicon *lexicon) {
    return lexicon_entry_count(&lexicon->table);
}

cog_status cog_lexicon_translate(const cog_lexicon *lexicon, const char *text, size_t text_size,
                                 const char *linkers, cog_translation **translations, size_t *count,
                                 cog_error *error) {
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(text, "text", error));
    TRY(check_given(translations, "translations", error));
    TRY(check_given(count, "count", error));
    if (!utf8_is_valid(text, text_size))
        return error_set(error, COG_ERR_INPUT, "the text is not valid UTF-8");
    return lexicon_translate(&lexicon->table, view_of(text, text_size), linkers, translations,
                             count, error);
}

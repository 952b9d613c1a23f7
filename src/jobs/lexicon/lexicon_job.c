#include "jobs/lexicon/lexicon_job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/strings.h"
#include "collection/foreign_documents.h"
#include "collection/options.h"
#include "crosslingual/aligner.h"
#include "crosslingual/lexicon_import.h"
#include "crosslingual/projection.h"
#include "input/input_files.h"
#include "run/job.h"

/* ---- Terms and settings ---------------------------------------------------------------------- */

static cog_status side_terms(const cog_lexicon_options *options, const char *language,
                             struct term_options *terms, cog_error *error) {
    cog_term_options side = options->terms;
    side.lang = language;
    if (!language || !language[0])
        return error_about(error, COG_ERR_USAGE, "from",
                           "a lexicon needs the languages of both sides, such as de and en");
    if (strcmp(language, "auto") == 0 || strcmp(language, "none") == 0)
        return error_about(
            error, COG_ERR_USAGE, "from",
            "language '%s': a lexicon needs the codes of both sides, such as de and en", language);
    if (strcmp(options->from, options->to ? options->to : "") == 0)
        return error_about(error, COG_ERR_USAGE, "to",
                           "both languages are %s: a lexicon translates from one into another",
                           language);
    return options_terms(&side, terms, error);
}

static cog_status record_settings(const cog_lexicon_options *options, struct settings *settings,
                                  cog_error *error) {
    cog_term_options terms = options->terms;
    terms.lang = "";
    TRY(options_record_terms(&terms, settings, error));
    TRY(settings_set_text(settings, "from", options->from, error));
    TRY(settings_set_text(settings, "to", options->to, error));
    TRY(settings_set_u64(settings, "entries a word", options->max_entries, error));
    return settings_set_double(settings, "mass", options->mass, error);
}

/* ---- Training -------------------------------------------------------------------------------- */

struct training {
    const cog_lexicon_options *options;
    struct job *job;
    struct pair_corpus corpus;
    struct pair_table *table;
};

static cog_status read_pairs(struct training *training, const char *const *paths, size_t count,
                             cog_error *error) {
    const cog_lexicon_options *options = training->options;
    struct pair_corpus_options reading = {
        .max_words = options->max_words, .min_count = options->min_count, .job = training->job};
    struct pair_reader_options format = {(enum pair_format)options->format, options->from,
                                         options->to};
    struct pair_reader *reader = NULL;
    TRY(side_terms(options, options->from, &reading.from, error));
    TRY(side_terms(options, options->to, &reading.to, error));
    job_stage(training->job, "reading");
    cog_status status = pair_reader_open(&format, paths, count, &reader, error);
    THEN(status, pair_corpus_read(&training->corpus, reader, &reading, error));
    uint64_t bad_rows = reader ? pair_reader_bad_rows(reader) : 0;
    if (status == COG_OK && bad_rows)
        report_notice(training->job->report, "skipped %llu row%s, the first at %s",
                      (unsigned long long)bad_rows,
                      plural(bad_rows, " that is no pair", "s that are no pairs"),
                      pair_reader_first_bad_row(reader));
    report_number(training->job->report, "bad_records", (double)bad_rows);
    pair_reader_close(reader);
    return status;
}

/* Announces the memory needed but never fails, as the size of a pipe is not known in advance; the
 * budget is checked while text and tables grow. Reading ends before the tables are made. */
static void announce_memory(const struct job *job, const char *const *paths, size_t count) {
    double text_bytes = 0;
    struct stat info;
    for (size_t i = 0; i < count; i++)
        if (stat(paths[i], &info) == 0 && S_ISREG(info.st_mode))
            text_bytes += (double)input_text_bytes(paths[i], (uint64_t)info.st_size);
    double reading = pair_corpus_predicted_bytes(text_bytes, job->threads);
    double tables = memory_of_parallel_text(text_bytes);
    memory_budget_announce(MEMORY_BASE_BYTES + (tables > reading ? tables : reading), &job->run,
                           job->report);
}

static void report_corpus(const struct training *training) {
    const struct pair_corpus *corpus = &training->corpus;
    report_number(training->job->report, "pairs", (double)corpus->count);
    report_number(training->job->report, "too_long_pairs", (double)corpus->too_long);
    report_number(training->job->report, "empty_pairs", (double)corpus->empty);
    report_number(training->job->report, "from_words", (double)corpus->from.vocabulary.count);
    report_number(training->job->report, "to_words", (double)corpus->to.vocabulary.count);
    report_number(training->job->report, "word_pairs", (double)pair_table_used(training->table));
    report_number(training->job->report, "word_pair_bytes",
                  (double)pair_table_memory_bytes(training->table));
}

/* Training on swapped columns succeeds, but its table is useless. */
static void warn_of_exchange(const struct training *training) {
    const cog_lexicon_options *options = training->options;
    char from[LANGUAGE_CODE_BYTES], to[LANGUAGE_CODE_BYTES];
    word_language(&training->corpus.from.vocabulary, from);
    word_language(&training->corpus.to.vocabulary, to);
    if (word_columns_exchanged(from, to, options->from, options->to))
        report_notice(
            training->job->report,
            "the words of %s (source) and %s (target) look like those of the other language; "
            "check whether the columns are swapped",
            options->from, options->to);
}

static cog_status align(struct training *training, cog_error *error) {
    const cog_lexicon_options *options = training->options;
    struct job *job = training->job;
    struct progress progress;
    struct aligner_options aligner = {.model1_iterations = options->model1_iterations,
                                      .agreement_iterations = options->agreement_iterations,
                                      .null_probability = options->null_probability,
                                      .diagonal = options->diagonal,
                                      .threads = job->threads,
                                      .progress = &progress};
    uint64_t left;
    job_stage(job, "pairing words");
    TRY(pair_corpus_check_budget(&training->corpus, job, &left, error));
    TRY(pair_table_create(&training->corpus, left, job->threads, &training->table, error));
    job_stage(job, "aligning words");
    report_corpus(training);
    warn_of_exchange(training);
    progress_start(&progress, &job->run, "aligning words",
                   options->model1_iterations + options->agreement_iterations);
    TRY(aligner_run(&training->corpus, training->table, &aligner, error));
    return progress_finish(&progress, error);
}

static cog_status check_options(const cog_lexicon_options *options, cog_error *error) {
    if (options->model1_iterations == 0)
        return error_set(error, COG_ERR_USAGE, "training needs at least one iteration of Model 1");
    if (!(options->null_probability > 0 && options->null_probability < 1))
        return error_set(error, COG_ERR_USAGE, "null probability %g: choose between 0 and 1",
                         options->null_probability);
    if (!(options->diagonal >= 0 && options->diagonal <= 100))
        return error_set(error, COG_ERR_USAGE, "diagonal %g: choose from 0 to 100",
                         options->diagonal);
    if (!(options->mass > 0 && options->mass <= 1) || options->max_entries == 0)
        return error_set(error, COG_ERR_USAGE,
                         "pruning to %u entries and %g of the mass leaves nothing",
                         options->max_entries, options->mass);
    if (options->max_words == 0 || options->max_words > 1000)
        return error_set(error, COG_ERR_USAGE, "sentences of %u words: choose from 1 to 1000",
                         options->max_words);
    return COG_OK;
}

cog_status lexicon_train(struct lexicon *lexicon, struct job *job, const char *const *paths,
                         size_t path_count, const cog_lexicon_options *options, cog_error *error) {
    struct training training = {.options = options, .job = job};
    struct prune_options prune = {options->max_entries, options->mass};
    TRY(check_options(options, error));
    announce_memory(job, paths, path_count);
    cog_status status = read_pairs(&training, paths, path_count, error);
    THEN(status, align(&training, error));
    job_stage(job, "pruning");
    THEN(status, lexicon_from_table(lexicon, &training.corpus, training.table, &prune, error));
    THEN(status, record_settings(options, &lexicon->settings, error));
    job_stage(job, NULL);
    report_number(job->report, "entries", (double)lexicon_entry_count(lexicon));
    pair_corpus_free(&training.corpus);
    pair_table_free(training.table);
    return status;
}

/* ---- Tables of other tools ------------------------------------------------------------------- */

static void report_findings(const struct import_findings *findings, cog_report *report) {
    report_number(report, "rows", (double)findings->rows);
    report_number(report, "bad_records", (double)findings->bad_rows);
    report_number(report, "skipped_words", (double)findings->skipped_words);
    for (unsigned i = 0; i < findings->message_count; i++)
        report_notice(report, "%s", findings->messages[i]);
    if (findings->skipped_words > findings->rows)
        report_notice(report,
                      "%llu of %llu fields are not one word, and were skipped: a table has a word "
                      "per field; lexicons of sentences are trained",
                      (unsigned long long)findings->skipped_words,
                      (unsigned long long)findings->rows * 2);
    if (findings->bad_rows)
        report_notice(
            report, "skipped %llu row%s", (unsigned long long)findings->bad_rows,
            plural(findings->bad_rows, " that is no translation", "s that are no translations"));
}

cog_status lexicon_convert(struct lexicon *lexicon, const char *const *paths, size_t path_count,
                           cog_table_format format, const cog_lexicon_options *options,
                           cog_report *report, cog_error *error) {
    struct import_options import = {.format = (enum table_format)format,
                                    .from_language = options->from,
                                    .to_language = options->to,
                                    .prune = {options->max_entries, options->mass}};
    struct import_findings findings = {0};
    TRY(check_options(options, error));
    if (path_count == 0)
        return error_set(error, COG_ERR_USAGE, "no table to convert");
    TRY(side_terms(options, options->from, &import.from_terms, error));
    TRY(side_terms(options, options->to, &import.to_terms, error));
    TRY(lexicon_import(lexicon, paths, path_count, &import, &findings, error));
    TRY(record_settings(options, &lexicon->settings, error));
    report_findings(&findings, report);
    report_number(report, "entries", (double)lexicon_entry_count(lexicon));
    return COG_OK;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

struct lookup {
    const struct lexicon *lexicon;
    struct analyzer *stems, *words; /* in parallel: terms, and the words that they come from */
    struct term_list stem_list, word_list;
    struct compound_splitter *splitter;
    cog_translation *items;
    size_t count, capacity;
};

static cog_status lookup_open(struct lookup *lookup, const char *linkers, cog_error *error) {
    struct term_options terms, words;
    struct projection_options projection;
    TRY(lexicon_terms(lookup->lexicon, true, &terms, error));
    projection_options_init(&projection);
    if (linkers)
        projection.compounds.linkers = linkers;
    words = terms;
    words.stem = false;
    lookup->word_list.want_strings = true;
    TRY(analyzer_create(&terms, &lookup->stems, error));
    TRY(analyzer_create(&words, &lookup->words, error));
    return compound_splitter_create(lookup->lexicon, &projection.compounds, &terms,
                                    &lookup->splitter, error);
}

static void lookup_close(struct lookup *lookup) {
    analyzer_free(lookup->stems);
    analyzer_free(lookup->words);
    term_list_free(&lookup->stem_list);
    term_list_free(&lookup->word_list);
    compound_splitter_free(lookup->splitter);
}

static cog_status add_translations(struct lookup *lookup, uint32_t word, cog_error *error) {
    const struct lexicon *lexicon = lookup->lexicon;
    struct bytes_view from = word_table_string(&lexicon->from, word);
    for (uint64_t i = lexicon->offsets[word]; i < lexicon->offsets[word + 1]; i++) {
        struct bytes_view to = word_table_string(&lexicon->to, lexicon->targets[i]);
        GROW(lookup->items, lookup->capacity, lookup->count + 1, "translations", error);
        lookup->items[lookup->count++] =
            (cog_translation){.from = from.data,
                              .to = to.data,
                              .from_size = from.size,
                              .to_size = to.size,
                              .to_given_from = (double)lexicon->to_given_from[i],
                              .from_given_to = (double)lexicon->from_given_to[i]};
    }
    return COG_OK;
}

static cog_status look_up(struct lookup *lookup, size_t index, cog_error *error) {
    uint32_t parts[COMPOUND_PARTS_MAX];
    unsigned count = 1;
    parts[0] = word_table_find(&lookup->lexicon->from, lookup->stem_list.hashes[index]);
    if (parts[0] == WORD_NONE) {
        const struct term_list *words = &lookup->word_list;
        size_t begin = index ? words->ends[index - 1] : 0;
        struct bytes_view word = view_of(words->strings.data + begin, words->ends[index] - begin);
        TRY(compound_split(lookup->splitter, word, parts, &count, error));
    }
    for (unsigned i = 0; i < count; i++)
        TRY(add_translations(lookup, parts[i], error));
    return COG_OK;
}

cog_status lexicon_translate(const struct lexicon *lexicon, struct bytes_view text,
                             const char *linkers, cog_translation **translations, size_t *count,
                             cog_error *error) {
    struct lookup lookup = {.lexicon = lexicon};
    cog_status status = lookup_open(&lookup, linkers, error);
    THEN(status, analyzer_run(lookup.stems, text, view_of("", 0), &lookup.stem_list, error));
    THEN(status, analyzer_run(lookup.words, text, view_of("", 0), &lookup.word_list, error));
    for (size_t i = 0; i < lookup.stem_list.count && status == COG_OK; i++)
        status = look_up(&lookup, i, error);
    lookup_close(&lookup);
    if (status == COG_OK)
        *count = lookup.count;
    return HAND_OUT(status, lookup.items, free, translations);
}

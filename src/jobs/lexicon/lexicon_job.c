#include "jobs/lexicon/lexicon_job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "collection/options.h"
#include "crosslingual/aligner.h"
#include "crosslingual/lexicon_file.h"
#include "crosslingual/lexicon_import.h"
#include "crosslingual/word_language.h"
#include "input/input_files.h"
#include "run/job.h"
#include "run/report.h"

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

/* ---- Terms and settings ---------------------------------------------------------------------- */

static cog_status side_terms(const cog_lexicon_options *options, const char *language,
                             struct term_options *terms, cog_error *error) {
    cog_term_options side = options->terms;
    side.lang = language;
    if (!language || !language[0])
        return error_set(error, COG_ERR_USAGE,
                         "a lexicon needs both languages: give --from and --to, such as de and en");
    return options_terms(&side, terms, error);
}

static cog_status record_settings(const cog_lexicon_options *options, struct settings *settings,
                                  cog_error *error) {
    cog_term_options terms = options->terms;
    terms.lang = "";
    cog_status status = options_record_terms(&terms, settings, error);
    THEN(status, settings_set_text(settings, "from", options->from, error));
    THEN(status, settings_set_text(settings, "to", options->to, error));
    THEN(status, settings_set_u64(settings, "entries a word", options->max_entries, error));
    THEN(status, settings_set_double(settings, "mass", options->mass, error));
    return status;
}

cog_status lexicon_terms(const struct lexicon *lexicon, bool of_from, struct term_options *terms,
                         cog_error *error) {
    cog_term_options options;
    const char *tokens = "words";
    uint64_t ngram = 1, stem = 1, drop = 1;
    cog_term_options_init(&options);
    settings_get_text(&lexicon->settings, "tokens", &tokens);
    settings_get_u64(&lexicon->settings, "ngram", &ngram);
    settings_get_u64(&lexicon->settings, "stem", &stem);
    settings_get_u64(&lexicon->settings, "drop stop words", &drop);
    options.tokens = strcmp(tokens, "words") == 0   ? COG_TOKENS_WORDS
                     : strcmp(tokens, "regex") == 0 ? COG_TOKENS_REGEX
                                                    : COG_TOKENS_CHARS;
    options.ngram = (unsigned)ngram;
    options.stem = stem;
    options.drop_stop_words = drop;
    if (!settings_get_text(&lexicon->settings, of_from ? "from" : "to", &options.lang))
        return error_set(error, COG_ERR_FORMAT, "the lexicon does not say its languages");
    return options_terms(&options, terms, error);
}

/* ---- Training -------------------------------------------------------------------------------- */

struct training {
    const cog_lexicon_options *options;
    const cog_run_options *run;
    struct progress progress;
    struct pair_corpus corpus;
    struct pair_table *table;
    cog_report *report;
};

static cog_status on_progress(void *context, uint64_t done, cog_error *error) {
    struct training *training = context;
    return progress_report(&training->progress, done, error);
}

/* What the budget leaves for the table of word pairs; 0 where there is none, COG_ERR_MEMORY where
 * the rest takes all of it. */
static cog_status check_budget(const struct training *training, uint64_t *left, cog_error *error) {
    enum { PROGRAM_BYTES = 9 << 20 }; /* measured */
    uint64_t budget = training->run ? training->run->memory_bytes : 0;
    uint64_t used = PROGRAM_BYTES + pair_corpus_memory_bytes(&training->corpus);
    *left = used < budget ? budget - used : 0;
    if (budget == 0 || used < budget)
        return COG_OK;
    return error_set(error, COG_ERR_MEMORY,
                     "training needs more than %llu MB and the budget is %llu MB; raise --memory, "
                     "take fewer --threads, or give less parallel text",
                     (unsigned long long)(used >> 20), (unsigned long long)(budget >> 20));
}

static cog_status on_reading(void *context, uint64_t done, cog_error *error) {
    uint64_t left;
    cog_status status = check_budget(context, &left, error);
    return status == COG_OK && done ? on_progress(context, done, error) : status;
}

static cog_status read_pairs(struct training *training, const char *const *paths, size_t count,
                             cog_error *error) {
    const cog_lexicon_options *options = training->options;
    struct pair_corpus_options reading = {.max_words = options->max_words,
                                          .min_count = options->min_count,
                                          .threads = training->run ? training->run->threads : 0,
                                          .progress = on_reading,
                                          .progress_context = training};
    struct pair_reader_options format = {(enum pair_format)options->format, options->from,
                                         options->to};
    struct pair_reader *reader = NULL;
    uint64_t start = clock_ns();
    cog_status status = side_terms(options, options->from, &reading.from, error);
    THEN(status, side_terms(options, options->to, &reading.to, error));
    THEN(status, pair_reader_open(&format, paths, count, &reader, error));
    progress_start(&training->progress, training->run, "reading parallel text", 0);
    THEN(status, pair_corpus_read(&training->corpus, reader, &reading, error));
    uint64_t bad_rows = reader ? pair_reader_bad_rows(reader) : 0;
    if (status == COG_OK && bad_rows)
        report_notice(training->report, "skipped %llu row%s, the first at %s",
                      (unsigned long long)bad_rows,
                      plural(bad_rows, " that is no pair", "s that are no pairs"),
                      pair_reader_first_bad_row(reader));
    report_stage(training->report, "reading", clock_seconds_since(start));
    report_number(training->report, "bad_records", (double)bad_rows);
    pair_reader_close(reader);
    return status;
}

/* The need goes by the options and the text, and what comes through a pipe is not known beforehand:
 * this refuses nothing, the budget is looked at as text and tables grow. Reading is over when the
 * tables come. */
static void announce_memory(const struct training *training, const char *const *paths,
                            size_t count) {
    const cog_run_options *run = training->run;
    double text_bytes = 0;
    struct stat info;
    for (size_t i = 0; i < count; i++)
        if (stat(paths[i], &info) == 0 && S_ISREG(info.st_mode))
            text_bytes += (double)input_text_bytes(paths[i], (uint64_t)info.st_size);
    double reading = pair_corpus_predicted_bytes(text_bytes, run ? run->threads : 0);
    double tables = memory_of_parallel_text(text_bytes);
    memory_budget_announce(MEMORY_BASE_BYTES + (tables > reading ? tables : reading), run,
                           training->report);
}

static void report_corpus(const struct training *training) {
    const struct pair_corpus *corpus = &training->corpus;
    report_number(training->report, "pairs", (double)corpus->count);
    report_number(training->report, "too_long_pairs", (double)corpus->too_long);
    report_number(training->report, "empty_pairs", (double)corpus->empty);
    report_number(training->report, "from_words", (double)corpus->from.vocabulary.count);
    report_number(training->report, "to_words", (double)corpus->to.vocabulary.count);
    report_number(training->report, "word_pairs", (double)pair_table_used(training->table));
    report_number(training->report, "word_pair_bytes",
                  (double)pair_table_memory_bytes(training->table));
}

/* Training on exchanged columns works, and its table is of no use. */
static void warn_of_exchange(const struct training *training) {
    const cog_lexicon_options *options = training->options;
    char from[LANGUAGE_CODE_BYTES], to[LANGUAGE_CODE_BYTES];
    word_language(&training->corpus.from.vocabulary, from);
    word_language(&training->corpus.to.vocabulary, to);
    if (word_columns_exchanged(from, to, options->from, options->to))
        report_notice(training->report,
                      "the words of --from %s and --to %s look like those of the other language: "
                      "are the columns exchanged?",
                      options->from, options->to);
}

static cog_status align(struct training *training, cog_error *error) {
    const cog_lexicon_options *options = training->options;
    struct aligner_options aligner = {.model1_iterations = options->model1_iterations,
                                      .agreement_iterations = options->agreement_iterations,
                                      .null_probability = options->null_probability,
                                      .diagonal = options->diagonal,
                                      .threads = training->run ? training->run->threads : 0,
                                      .progress = on_progress,
                                      .progress_context = training};
    uint64_t start = clock_ns();
    uint64_t left;
    cog_status status = check_budget(training, &left, error);
    THEN(status,
         pair_table_create(&training->corpus, left, aligner.threads, &training->table, error));
    if (status != COG_OK)
        return status;
    report_stage(training->report, "pairing words", clock_seconds_since(start));
    report_corpus(training);
    warn_of_exchange(training);
    start = clock_ns();
    progress_start(&training->progress, training->run, "aligning words",
                   options->model1_iterations + options->agreement_iterations);
    status = aligner_run(&training->corpus, training->table, &aligner, error);
    THEN(status, progress_finish(&training->progress, error));
    report_stage(training->report, "aligning words", clock_seconds_since(start));
    return status;
}

static cog_status check_options(const cog_lexicon_options *options, cog_error *error) {
    if (options->model1_iterations == 0)
        return error_set(error, COG_ERR_USAGE, "training needs an iteration of Model 1 or more");
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

cog_status cog_lexicon_train(const char *const *paths, size_t path_count,
                             const cog_lexicon_options *options, const cog_run_options *run,
                             cog_lexicon **result, cog_report *report, cog_error *error) {
    struct training training = {.options = options, .run = run, .report = report};
    struct prune_options prune = {options->max_entries, options->mass};
    cog_lexicon *lexicon = calloc(1, sizeof *lexicon);
    if (!lexicon)
        return error_memory(error, sizeof *lexicon, "a lexicon");
    struct job job;
    job_begin(&job, run, report);
    cog_status status = check_options(options, error);
    if (status == COG_OK) {
        announce_memory(&training, paths, path_count);
        status = read_pairs(&training, paths, path_count, error);
    }
    THEN(status, align(&training, error));
    uint64_t start = clock_ns();
    THEN(status,
         lexicon_from_table(&lexicon->table, &training.corpus, training.table, &prune, error));
    THEN(status, record_settings(options, &lexicon->table.settings, error));
    report_stage(report, "pruning", clock_seconds_since(start));
    report_number(report, "entries", (double)lexicon_entry_count(&lexicon->table));
    report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
    job_end(&job);
    pair_corpus_free(&training.corpus);
    pair_table_free(training.table);
    if (status != COG_OK) {
        cog_lexicon_free(lexicon);
        return status;
    }
    *result = lexicon;
    return COG_OK;
}

/* ---- Tables of other tools ------------------------------------------------------------------- */

static void report_findings(const struct import_findings *findings, cog_report *report) {
    report_number(report, "rows", (double)findings->rows);
    report_number(report, "bad_records", (double)findings->bad_rows);
    report_number(report, "skipped_words", (double)findings->skipped_words);
    for (unsigned i = 0; i < findings->message_count; i++)
        report_notice(report, "%s", findings->messages[i]);
    if (findings->bad_rows)
        report_notice(
            report, "skipped %llu row%s", (unsigned long long)findings->bad_rows,
            plural(findings->bad_rows, " that is no translation", "s that are no translations"));
}

cog_status cog_lexicon_convert(const char *const *paths, size_t path_count, cog_table_format format,
                               const cog_lexicon_options *options, cog_lexicon **result,
                               cog_report *report, cog_error *error) {
    struct import_options import = {.format = (enum table_format)format,
                                    .from_language = options->from,
                                    .to_language = options->to,
                                    .prune = {options->max_entries, options->mass}};
    struct import_findings findings = {0};
    cog_status status = check_options(options, error);
    if (status == COG_OK && path_count == 0)
        status = error_set(error, COG_ERR_USAGE, "no table to convert");
    THEN(status, side_terms(options, options->from, &import.from_terms, error));
    THEN(status, side_terms(options, options->to, &import.to_terms, error));
    if (status != COG_OK)
        return status;
    cog_lexicon *lexicon = calloc(1, sizeof *lexicon);
    if (!lexicon)
        return error_memory(error, sizeof *lexicon, "a lexicon");
    status = lexicon_import(&lexicon->table, paths, path_count, &import, &findings, error);
    THEN(status, record_settings(options, &lexicon->table.settings, error));
    if (status != COG_OK) {
        cog_lexicon_free(lexicon);
        return status;
    }
    report_findings(&findings, report);
    report_number(report, "entries", (double)lexicon_entry_count(&lexicon->table));
    *result = lexicon;
    return COG_OK;
}

/* ---- Files and looking up -------------------------------------------------------------------- */

cog_status cog_lexicon_save(const cog_lexicon *lexicon, const char *path, cog_error *error) {
    return lexicon_save(&lexicon->table, path, error);
}

cog_status cog_lexicon_open(const char *path, cog_lexicon **result, cog_error *error) {
    cog_lexicon *lexicon = calloc(1, sizeof *lexicon);
    if (!lexicon)
        return error_memory(error, sizeof *lexicon, "a lexicon");
    cog_status status = lexicon_load(path, &lexicon->table, error);
    if (status != COG_OK) {
        cog_lexicon_free(lexicon);
        return status;
    }
    *result = lexicon;
    return COG_OK;
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

size_t cog_lexicon_words(const cog_lexicon *lexicon) {
    return lexicon->table.from.count;
}

size_t cog_lexicon_entries(const cog_lexicon *lexicon) {
    return lexicon_entry_count(&lexicon->table);
}

#include <string.h>

#include "command.h"

static const enum option_id table_options[] = {OPTION_OUTPUT,     OPTION_FROM, OPTION_TO,
                                               OPTION_ENTRIES,    OPTION_MASS, OPTION_STEM,
                                               OPTION_STOP_WORDS, OPTION_COUNT};
static const enum option_id train_options[] = {OPTION_PAIRS_FORMAT, OPTION_MODEL1, OPTION_AGREE,
                                               OPTION_DIAGONAL,     OPTION_NULL,   OPTION_MIN_COUNT,
                                               OPTION_MAX_WORDS,    OPTION_COUNT};
static const enum option_id convert_options[] = {OPTION_TABLE_FORMAT, OPTION_COUNT};
static const enum option_id show_options[] = {OPTION_LINKERS, OPTION_COUNT};

static bool take_options(const struct arguments *arguments, cog_lexicon_options *options) {
    uint64_t model1, agree, min_count, max_words, entries;
    cog_lexicon_options_init(options);
    options->from = arguments->values[OPTION_FROM];
    options->to = arguments->values[OPTION_TO];
    options->terms.stem = choice_option(arguments, OPTION_STEM, 0) == 0;
    options->terms.drop_stop_words = choice_option(arguments, OPTION_STOP_WORDS, 1) == 0;
    options->format =
        (cog_pair_format)choice_option(arguments, OPTION_PAIRS_FORMAT, COG_PAIRS_AUTO);
    model1 = options->model1_iterations;
    agree = options->agreement_iterations;
    min_count = options->min_count;
    max_words = options->max_words;
    entries = options->max_entries;
    if (!number_option(arguments, OPTION_MODEL1, 1, 1000, &model1) ||
        !number_option(arguments, OPTION_AGREE, 0, 1000, &agree) ||
        !number_option(arguments, OPTION_MIN_COUNT, 1, UINT32_MAX, &min_count) ||
        !number_option(arguments, OPTION_MAX_WORDS, 1, 1000, &max_words) ||
        !number_option(arguments, OPTION_ENTRIES, 1, UINT32_MAX, &entries) ||
        !real_option(arguments, OPTION_MASS, 0, 1, &options->mass) ||
        !real_option(arguments, OPTION_NULL, 0, 1, &options->null_probability) ||
        !real_option(arguments, OPTION_DIAGONAL, 0, 100, &options->diagonal))
        return false;
    options->model1_iterations = (unsigned)model1;
    options->agreement_iterations = (unsigned)agree;
    options->min_count = (unsigned)min_count;
    options->max_words = (unsigned)max_words;
    options->max_entries = (unsigned)entries;
    if (!options->from || !options->to)
        return usage_error(arguments, "give both languages, such as --from de --to en");
    if (!arguments->values[OPTION_OUTPUT])
        return usage_error(arguments, "no output; give -o FILE.lex");
    return true;
}

static const enum option_id of_training[] = {OPTION_MEMORY, OPTION_COUNT};

static int make(const struct arguments *arguments, bool is_table) {
    cog_lexicon_options options;
    cog_run_options run;
    if ((is_table && !refuse_options(arguments, of_training, "belongs to lexicon train")) ||
        !take_options(arguments, &options) || !take_run_options(arguments, &run))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_lexicon *lexicon = NULL;
    const char *const *paths = arguments->words + 1;
    size_t count = arguments->word_count - 1;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK && is_table)
        status = cog_lexicon_convert(
            paths, count,
            (cog_table_format)choice_option(arguments, OPTION_TABLE_FORMAT, COG_TABLE_AUTO),
            &options, &lexicon, report, &error);
    else if (status == COG_OK)
        status = cog_lexicon_train(paths, count, &options, &run, &lexicon, report, &error);
    if (status == COG_OK)
        status = cog_lexicon_save(lexicon, arguments->values[OPTION_OUTPUT], &error);
    int code = finish_job(arguments, status, &error, report);
    cog_lexicon_free(lexicon);
    cog_report_free(report);
    return code;
}

static void print_translations(const cog_translation *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        printf("%.*s\t%.*s\t%.6f\t%.6f\n", (int)items[i].from_size, items[i].from,
               (int)items[i].to_size, items[i].to, items[i].to_given_from, items[i].from_given_to);
}

static int show(const struct arguments *arguments) {
    if (arguments->word_count < 3) {
        usage_error(arguments, "give a lexicon and a word: show LEXICON WORD...");
        return EXIT_USAGE;
    }
    cog_error error = {0};
    cog_report *report = NULL;
    cog_lexicon *lexicon = NULL;
    cog_translation *items = NULL;
    size_t count = 0, found = 0;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_lexicon_open(arguments->words[1], &lexicon, &error);
    if (status == COG_OK)
        printf("from\tto\tp(to|from)\tp(from|to)\n");
    for (size_t i = 2; i < arguments->word_count && status == COG_OK; i++) {
        const char *word = arguments->words[i];
        status = cog_lexicon_translate(lexicon, word, strlen(word),
                                       arguments->values[OPTION_LINKERS], &items, &count, &error);
        if (status == COG_OK)
            print_translations(items, count);
        cog_free(items);
        items = NULL;
        found += count;
    }
    int code = finish_job(arguments, status, &error, report);
    cog_lexicon_free(lexicon);
    cog_report_free(report);
    return code == EXIT_DONE && found == 0 ? EXIT_NOTHING : code;
}

static int train(const struct arguments *arguments) {
    return make(arguments, false);
}

static int convert(const struct arguments *arguments) {
    return make(arguments, true);
}

static const option_set train_sets[] = {table_options, train_options, run_options, NULL};
static const option_set convert_sets[] = {table_options, convert_options, run_options, NULL};
static const option_set show_sets[] = {show_options, run_options, NULL};

static const struct command actions[] = {
    {.name = "train",
     .synopsis = "IN... --from LANG --to LANG -o LEXICON [OPTIONS]",
     .summary = "learn which word translates to which from sentence pairs",
     .description =
         "Sentence pairs are files of two columns with a tab between them, two plain files line\n"
         "by line (a.de a.en), TMX, or gettext catalogues; compressed or not.",
     .sets = train_sets,
     .run = train},
    {.name = "convert",
     .synopsis = "IN... --from LANG --to LANG -o LEXICON [OPTIONS]",
     .summary = "read the tables of other tools",
     .description =
         "Plain TSV with or without probabilities, lex files of Moses, GIZA++ (t3.final FROM.vcb\n"
         "TO.vcb, or actual.ti.final), fast_align -p, parameters of the Berkeley aligner,\n"
         "dictionaries of bicleaner and bitextor. Says so when the columns or the probabilities\n"
         "are the other way round, or sum to 1 nowhere.",
     .sets = convert_sets,
     .run = convert},
    {.name = "show",
     .synopsis = "LEXICON WORD... [OPTIONS]",
     .summary = "print the translations of words",
     .description = "The exit status is 1 when there are none.",
     .sets = show_sets,
     .run = show},
    {.name = NULL},
};

const struct command command_lexicon = {
    .name = "lexicon",
    .synopsis = "train|convert IN... --from LANG --to LANG -o LEXICON, or show LEXICON WORD...",
    .summary = "word-translation tables from parallel text",
    .description = "The words of a table are stems, as documents have them.",
    .actions = actions};

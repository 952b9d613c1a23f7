#include <string.h>

#include "command.h"

static const enum option_id table_options[] = {OPTION_OUTPUT,     OPTION_FROM_LANG, OPTION_TO_LANG,
                                               OPTION_ENTRIES,    OPTION_MASS,      OPTION_STEM,
                                               OPTION_STOP_WORDS, OPTION_COUNT};
static const enum option_id train_options[] = {OPTION_PAIRS_FORMAT, OPTION_MODEL1, OPTION_AGREE,
                                               OPTION_DIAGONAL,     OPTION_NULL,   OPTION_MIN_COUNT,
                                               OPTION_MAX_WORDS,    OPTION_COUNT};
static const enum option_id convert_options[] = {OPTION_TABLE_FORMAT, OPTION_COUNT};
static const enum option_id show_options[] = {OPTION_LINKERS, OPTION_COUNT};
static const enum option_id convert_run[] = {OPTION_THREADS, OPTION_STATS,    OPTION_QUIET,
                                             OPTION_HELP,    OPTION_HELP_ALL, OPTION_VERSION,
                                             OPTION_COUNT};
static const struct option_text texts[] = {
    {OPTION_OUTPUT, "write the lexicon here"},
    {OPTION_STEM, "reduce words to their stems, as documents do (default: yes)"},
    {OPTION_STOP_WORDS, "what to do with stop words (default: keep)"},
    {OPTION_COUNT, NULL}};

static bool take_options(const struct arguments *arguments, cog_lexicon_options *options) {
    cog_lexicon_options_init(options);
    options->from = arguments->values[OPTION_FROM_LANG];
    options->to = arguments->values[OPTION_TO_LANG];
    options->terms.stem = choice_option(arguments, OPTION_STEM, 0) == 0;
    options->terms.drop_stop_words = choice_option(arguments, OPTION_STOP_WORDS, 1) == 0;
    options->format =
        (cog_pair_format)choice_option(arguments, OPTION_PAIRS_FORMAT, COG_PAIRS_AUTO);
    if (!unsigned_option(arguments, OPTION_MODEL1, 1, 1000, &options->model1_iterations) ||
        !unsigned_option(arguments, OPTION_AGREE, 0, 1000, &options->agreement_iterations) ||
        !unsigned_option(arguments, OPTION_MIN_COUNT, 1, UINT32_MAX, &options->min_count) ||
        !unsigned_option(arguments, OPTION_MAX_WORDS, 1, 1000, &options->max_words) ||
        !unsigned_option(arguments, OPTION_ENTRIES, 1, UINT32_MAX, &options->max_entries) ||
        !real_option(arguments, OPTION_MASS, 0, 1, &options->mass) ||
        !real_option(arguments, OPTION_NULL, 0, 1, &options->null_probability) ||
        !real_option(arguments, OPTION_DIAGONAL, 0, 100, &options->diagonal))
        return false;
    if (!options->from || !options->to)
        return usage_error(arguments, "give both languages, such as --from de --to en");
    if (!arguments->values[OPTION_OUTPUT])
        return usage_error(arguments, "no output; give -o FILE.lex");
    return true;
}

static cog_status make(struct session *session, bool is_table) {
    const struct arguments *arguments = session->arguments;
    const char *const *paths = arguments->words + 1;
    size_t count = arguments->word_count - 1;
    cog_lexicon_options options;
    cog_lexicon *lexicon = NULL;
    cog_error *error = &session->error;
    if (!take_options(arguments, &options))
        return COG_ERR_USAGE;
    cog_status status =
        is_table ? cog_lexicon_convert(paths, count,
                                       (cog_table_format)choice_option(
                                           arguments, OPTION_TABLE_FORMAT, COG_TABLE_AUTO),
                                       &options, &lexicon, session->report, error)
                 : cog_lexicon_train(paths, count, &options, &session->run, &lexicon,
                                     session->report, error);
    THEN(status, cog_lexicon_save(lexicon, arguments->values[OPTION_OUTPUT], error));
    cog_lexicon_free(lexicon);
    return status;
}

static void summarize(const struct session *session) {
    const cog_report *report = session->report;
    fputs("cognate: ", stderr);
    print_count(cog_report_number(report, "pairs"), "sentence pair", stderr);
    fputs(" read", stderr);
    print_skipped(cog_report_number(report, "bad_records") +
                      cog_report_number(report, "too_long_pairs") +
                      cog_report_number(report, "empty_pairs"),
                  "pair");
    fprintf(stderr, "; %.1f s\n", session->seconds);
}

static void summarize_table(const struct session *session) {
    const cog_report *report = session->report;
    fputs("cognate: ", stderr);
    print_count(cog_report_number(report, "rows"), "row", stderr);
    fputs(" read, ", stderr);
    print_count(cog_report_number(report, "entries"), "translation", stderr);
    fputs(" kept\n", stderr);
}

static cog_status train(struct session *session) {
    return make(session, false);
}

static cog_status convert(struct session *session) {
    return make(session, true);
}

static void print_translations(const cog_translation *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        printf("%.*s\t%.*s\t%.6f\t%.6f\n", (int)items[i].from_size, items[i].from,
               (int)items[i].to_size, items[i].to, items[i].to_given_from, items[i].from_given_to);
}

static cog_status show(struct session *session) {
    const struct arguments *arguments = session->arguments;
    if (arguments->word_count < 3)
        return REFUSE(arguments, "give a lexicon and a word: show LEXICON WORD...");
    cog_lexicon *lexicon = NULL;
    size_t found = 0;
    cog_status status = cog_lexicon_open(arguments->words[1], &lexicon, &session->error);
    if (status == COG_OK)
        printf("from\tto\tp(to|from)\tp(from|to)\n");
    for (size_t i = 2; i < arguments->word_count && status == COG_OK; i++) {
        const char *word = arguments->words[i];
        cog_translation *items = NULL;
        size_t count = 0;
        status =
            cog_lexicon_translate(lexicon, word, strlen(word), arguments->values[OPTION_LINKERS],
                                  &items, &count, &session->error);
        if (status == COG_OK)
            print_translations(items, count);
        cog_free(items);
        found += count;
    }
    session->found_nothing = found == 0;
    cog_lexicon_free(lexicon);
    return status;
}

static const option_set train_sets[] = {table_options, train_options, run_options, NULL};
static const option_set convert_sets[] = {table_options, convert_options, convert_run, NULL};
static const option_set show_sets[] = {show_options, run_options, NULL};

static const struct command actions[] = {
    {.name = "train",
     .synopsis = "IN... --from LANG --to LANG -o LEXICON [OPTIONS]",
     .summary = "learn which word translates to which from sentence pairs",
     .description = "Learns which word translates to which. Sentence pairs come from files of two "
                    "columns with a tab between them, two plain files "
                    "line by line (a.de a.en), TMX, or gettext catalogues (po); compressed or not.",
     .examples = "cognate lexicon train news.tsv.gz --from de --to en -o de-en.lex\n"
                 "cognate lexicon train europarl.de europarl.en --from de --to en -o de-en.lex",
     .sets = train_sets,
     .texts = texts,
     .run = train,
     .summarize = summarize},
    {.name = "convert",
     .synopsis = "IN... --from LANG --to LANG -o LEXICON [OPTIONS]",
     .summary = "make a lexicon from the table of another tool",
     .description =
         "Reads plain TSV with or without probabilities, lex files of Moses, GIZA++ (t3.final "
         "FROM.vcb TO.vcb, or actual.ti.final), fast_align -p, parameters of the Berkeley "
         "aligner, and dictionaries of bicleaner and bitextor. Prints a notice if the columns or "
         "the probabilities are reversed, or if the probabilities do not sum to 1.",
     .examples = "cognate lexicon convert lex.f2e --from de --to en -o de-en.lex\n"
                 "cognate lexicon convert words.tsv --from de --to en -o de-en.lex",
     .sets = convert_sets,
     .texts = texts,
     .run = convert,
     .summarize = summarize_table},
    {.name = "show",
     .synopsis = "LEXICON WORD... [OPTIONS]",
     .summary = "print the translations of words",
     .description = "Prints the translations of words. The exit status is 1 if there are none.",
     .examples = "cognate lexicon show de-en.lex Haus Baum",
     .sets = show_sets,
     .run = show},
    {.name = NULL},
};

const struct command command_lexicon = {
    .name = "lexicon",
    .synopsis = "train|convert IN... --from LANG --to LANG -o LEXICON, or show LEXICON WORD...",
    .summary = "word-translation tables from parallel text",
    .description = "A lexicon holds translations of words with their probabilities. Words are "
                   "reduced to stems, as in documents.",
    .examples = "cognate lexicon train news.tsv.gz --from de --to en -o de-en.lex\n"
                "cognate lexicon show de-en.lex Haus",
    .see = "link pairs explain",
    .actions = actions,
};

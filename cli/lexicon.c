#include <stdlib.h>
#include <string.h>

#include "command.h"

static const enum option_id own_options[] = {
    OPTION_OUTPUT,  OPTION_FROM,     OPTION_TO,   OPTION_PAIRS_FORMAT, OPTION_MODEL1,
    OPTION_AGREE,   OPTION_DIAGONAL, OPTION_NULL, OPTION_MIN_COUNT,    OPTION_MAX_WORDS,
    OPTION_ENTRIES, OPTION_MASS,     OPTION_STEM, OPTION_STOP_WORDS,   OPTION_COUNT};
static const option_set sets[] = {own_options, run_options, NULL};

static bool take_options(const struct arguments *arguments, cog_lexicon_options *options) {
    uint64_t model1, agree, min_count, max_words, entries;
    cog_lexicon_options_init(options);
    options->from = arguments->values[OPTION_FROM];
    options->to = arguments->values[OPTION_TO];
    options->terms.stem = choice_option(arguments, OPTION_STEM, 0) == 0;
    options->terms.drop_stop_words = choice_option(arguments, OPTION_STOP_WORDS, 0) == 0;
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

static int train(const struct arguments *arguments) {
    cog_lexicon_options options;
    cog_run_options run;
    if (!take_options(arguments, &options) || !take_run_options(arguments, &run))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_lexicon *lexicon = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_lexicon_train(arguments->words + 1, arguments->word_count - 1, &options, &run,
                                   &lexicon, report, &error);
    if (status == COG_OK)
        status = cog_lexicon_save(lexicon, arguments->values[OPTION_OUTPUT], &error);
    int code = finish_job(arguments, status, &error, report);
    cog_lexicon_free(lexicon);
    cog_report_free(report);
    return code;
}

static int run(const struct arguments *arguments) {
    const char *verb = arguments->word_count ? arguments->words[0] : "";
    if (strcmp(verb, "train") == 0)
        return train(arguments);
    usage_error(arguments, "say what to do: train");
    return EXIT_USAGE;
}

const struct command command_lexicon = {
    .name = "lexicon",
    .synopsis = "train PAIRS... --from LANG --to LANG -o LEXICON",
    .summary = "word-translation tables from parallel text",
    .description =
        "train learns which word translates to which from sentence pairs: files of two columns\n"
        "with a tab between them, two plain files line by line (a.de a.en), TMX, or gettext\n"
        "catalogues; compressed or not. The words are stems, as documents have them.",
    .sets = sets,
    .run = run};

#include <stdlib.h>

#include "command.h"

static const enum option_id own_options[] = {
    OPTION_FROM,      OPTION_TO,      OPTION_LEXICON,    OPTION_OUTPUT, OPTION_ONE_TO_ONE,
    OPTION_THRESHOLD, OPTION_GOLD,    OPTION_CANDIDATES, OPTION_HUBS,   OPTION_PROBABILITY,
    OPTION_UNKNOWN,   OPTION_LINKERS, OPTION_K1,         OPTION_B,      OPTION_METHOD,
    OPTION_BITS,      OPTION_COUNT};
static const option_set sets[] = {own_options, input_options, run_options, NULL};

static bool take_options(const struct arguments *arguments, cog_link_options *options) {
    cog_link_options_init(options);
    uint64_t candidates = options->candidates, hubs = options->hub_neighbours, bits = options->bits;
    if (!real_option(arguments, OPTION_THRESHOLD, -1, 1, &options->threshold) ||
        !real_option(arguments, OPTION_K1, 0, 1000, &options->k1) ||
        !real_option(arguments, OPTION_B, 0, 1, &options->b) ||
        !number_option(arguments, OPTION_CANDIDATES, 1, 100000, &candidates) ||
        !number_option(arguments, OPTION_BITS, 8, 4096, &bits) ||
        !number_option(arguments, OPTION_HUBS, 0, 100000, &hubs))
        return false;
    options->method = (cog_method)choice_option(arguments, OPTION_METHOD, COG_METHOD_AUTO);
    options->bits = (unsigned)bits;
    options->candidates = (unsigned)candidates;
    options->hub_neighbours = (unsigned)hubs;
    options->one_to_one = has_option(arguments, OPTION_ONE_TO_ONE);
    options->source_given_target = choice_option(arguments, OPTION_PROBABILITY, 0) == 1;
    options->keep_unknown = choice_option(arguments, OPTION_UNKNOWN, 0) == 0;
    if (has_option(arguments, OPTION_LINKERS))
        options->linkers = arguments->values[OPTION_LINKERS];
    if (!has_option(arguments, OPTION_FROM) || !has_option(arguments, OPTION_TO))
        return usage_error(arguments, "give both collections: --from IN... --to IN...");
    if (!has_option(arguments, OPTION_LEXICON))
        return usage_error(arguments, "give the lexicon: --lexicon FILE");
    return true;
}

/* Whether a word belongs to an option of many values: the last of the two that stands before it. */
static bool is_behind(const struct arguments *arguments, size_t word, enum option_id id,
                      enum option_id other) {
    int place = arguments->word_places[word], begin = arguments->places[id];
    int stop = arguments->places[other];
    return place > begin && !(stop > begin && place > stop);
}

/* The option's own value and the words behind it. */
static cog_status open_side(const struct arguments *arguments, enum option_id id,
                            enum option_id other, const cog_input_options *input,
                            cog_documents **documents, cog_error *error) {
    size_t count = 0;
    const char **paths = malloc((arguments->word_count + 1) * sizeof *paths);
    if (!paths) {
        error->status = COG_ERR_MEMORY;
        return COG_ERR_MEMORY;
    }
    paths[count++] = arguments->values[id];
    for (size_t i = 0; i < arguments->word_count; i++)
        if (is_behind(arguments, i, id, other))
            paths[count++] = arguments->words[i];
    cog_status status = cog_documents_open(input, paths, count, documents, error);
    free(paths);
    return status;
}

static cog_status print_scores(const cog_links *links, const char *gold, cog_error *error) {
    cog_link_scores scores;
    cog_status status = cog_links_score(links, gold, &scores, error);
    if (status == COG_OK)
        fprintf(stderr,
                "known %llu links %llu precision %.4f recall %.4f recall@1 %.4f "
                "recall@precision0.99 %.4f\n",
                (unsigned long long)scores.known, (unsigned long long)scores.links,
                scores.precision, scores.recall, scores.recall_at_1, scores.recall_at_precision_99);
    return status;
}

static int run(const struct arguments *arguments) {
    cog_input_options input;
    cog_link_options options;
    cog_run_options job;
    if (!take_input_options(arguments, &input) || !take_options(arguments, &options) ||
        !take_run_options(arguments, &job))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_lexicon *lexicon = NULL;
    cog_documents *from = NULL, *to = NULL;
    cog_links *links = NULL;
    const char *output = arguments->values[OPTION_OUTPUT];
    const char *gold = arguments->values[OPTION_GOLD];
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_lexicon_open(arguments->values[OPTION_LEXICON], &lexicon, &error);
    if (status == COG_OK)
        status = open_side(arguments, OPTION_FROM, OPTION_TO, &input, &from, &error);
    if (status == COG_OK)
        status = open_side(arguments, OPTION_TO, OPTION_FROM, &input, &to, &error);
    if (status == COG_OK)
        status = cog_link(from, to, lexicon, &options, &job, &links, report, &error);
    if (status == COG_OK)
        status = cog_links_write(links, output ? output : "-", &error);
    if (status == COG_OK && gold)
        status = print_scores(links, gold, &error);
    int code = finish_job(arguments, status, &error, report);
    if (code == EXIT_DONE && cog_links_count(links) == 0)
        code = EXIT_NOTHING;
    cog_links_free(links);
    cog_documents_close(from);
    cog_documents_close(to);
    cog_lexicon_free(lexicon);
    cog_report_free(report);
    return code;
}

const struct command command_link = {
    .name = "link",
    .synopsis = "--from IN... --to IN... --lexicon LEXICON [OPTIONS]",
    .summary = "the best partner of each document in another language",
    .description =
        "Projects the documents of --from into the language of --to by a lexicon (see cognate\n"
        "lexicon) and prints each document's best partner: from, to, cosine, score. The score is\n"
        "twice the cosine minus both documents' mean cosine to their nearest, which keeps pages\n"
        "that resemble everything from collecting links.",
    .sets = sets,
    .run = run};

#include <stdlib.h>
#include <string.h>

#include "command.h"

static const enum option_id own_options[] = {OPTION_FROM, OPTION_TO, OPTION_K1, OPTION_B,
                                             OPTION_COUNT};
static const option_set sets[] = {own_options, projection_options, input_options, run_options,
                                  NULL};

struct explain_arguments {
    cog_input_options input;
    cog_projection_options projection;
    cog_run_options run;
    bool in_collections; /* the words are ids, else files */
};

static bool take_arguments(const struct arguments *arguments, struct explain_arguments *taken) {
    if (!take_input_options(arguments, &taken->input) ||
        !take_projection_options(arguments, &taken->projection) ||
        !take_run_options(arguments, &taken->run))
        return false;
    taken->in_collections = has_option(arguments, OPTION_FROM);
    if (taken->in_collections != has_option(arguments, OPTION_TO))
        return usage_error(arguments, "give both collections: --from IN... --to IN...");
    if (!has_option(arguments, OPTION_LEXICON))
        return usage_error(arguments, "give the lexicon: --lexicon FILE");
    if (arguments->word_count < 2 || (!taken->in_collections && arguments->word_count != 2))
        return usage_error(arguments, "name two documents");
    for (int i = 0; taken->in_collections && i < 2; i++)
        if (arguments->word_places[i] > arguments->places[OPTION_FROM] ||
            arguments->word_places[i] > arguments->places[OPTION_TO])
            return usage_error(arguments, "name the two documents before --from and --to");
    return true;
}

static cog_status open_inputs(const struct arguments *arguments,
                              const struct explain_arguments *taken, cog_documents *documents[2],
                              cog_error *error) {
    static const enum option_id sides[2] = {OPTION_FROM, OPTION_TO};
    cog_status status = COG_OK;
    for (int i = 0; i < 2 && status == COG_OK; i++)
        status =
            taken->in_collections
                ? open_side(arguments, sides[i], sides[!i], &taken->input, &documents[i], error)
                : cog_documents_open(&taken->input, &arguments->words[i], 1, &documents[i], error);
    return status;
}

static void print_matches(const cog_word_match *matches, size_t count, double cosine, bool quiet) {
    puts("word\ttranslation\tprobability\tshare");
    for (size_t i = 0; i < count; i++)
        printf("%.*s\t%.*s\t%.6f\t%.6f\n", (int)matches[i].from_size, matches[i].from,
               (int)matches[i].to_size, matches[i].to, matches[i].probability, matches[i].share);
    if (!quiet)
        fprintf(stderr, "cosine %.6f\n", cosine);
}

/* The rows of the two documents: by their ids, or the first of each file. */
static bool find_rows(const struct arguments *arguments, const struct explain_arguments *taken,
                      const cog_links *links, uint32_t rows[2]) {
    rows[0] = rows[1] = 0;
    for (int side = 0; side < 2 && taken->in_collections; side++)
        if (!cog_links_find(links, side, arguments->words[side], strlen(arguments->words[side]),
                            &rows[side]))
            return usage_error(arguments, "no document '%s' in --%s", arguments->words[side],
                               side ? "to" : "from");
    return true;
}

static int run(const struct arguments *arguments) {
    struct explain_arguments taken;
    if (!take_arguments(arguments, &taken))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_lexicon *lexicon = NULL;
    cog_documents *documents[2] = {NULL, NULL};
    cog_links *links = NULL;
    cog_word_match *matches = NULL;
    uint32_t rows[2];
    size_t count = 0;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_lexicon_open(arguments->values[OPTION_LEXICON], &lexicon, &error);
    if (status == COG_OK)
        status = open_inputs(arguments, &taken, documents, &error);
    if (status == COG_OK)
        status = cog_links_prepare(documents[0], documents[1], lexicon, &taken.projection,
                                   &taken.run, &links, report, &error);
    if (status == COG_OK && !find_rows(arguments, &taken, links, rows))
        status = COG_ERR_USAGE;
    if (status == COG_OK)
        status = cog_links_explain(links, rows[0], rows[1], &matches, &count, &error);
    if (status == COG_OK)
        print_matches(matches, count, cog_links_cosine(links, rows[0], rows[1]),
                      has_option(arguments, OPTION_QUIET));
    int code = finish_job(arguments, status, &error, report);
    if (code == EXIT_DONE && count == 0)
        code = EXIT_NOTHING;
    free(matches);
    cog_links_free(links);
    cog_documents_close(documents[0]);
    cog_documents_close(documents[1]);
    cog_lexicon_free(lexicon);
    cog_report_free(report);
    return code;
}

const struct command command_explain = {
    "explain",
    "A B --lexicon LEXICON [--from IN... --to IN...] [OPTIONS]",
    "why two documents of different languages match",
    "Prints which word of document A matched which word of document B, the probability of that\n"
    "translation, and its share of the cosine, the largest shares first. A and B are ids of\n"
    "documents in the collections --from and --to, whose statistics weigh the words; without\n"
    "collections they are files of one document each, and all words weigh alike.",
    sets,
    run,
};

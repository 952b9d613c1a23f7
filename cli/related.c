#include "command.h"

static const enum option_id own_options[] = {
    OPTION_MIN_URLS, OPTION_OUTPUT, OPTION_FORMAT, OPTION_THRESHOLD, OPTION_METHOD,
    OPTION_RECALL,   OPTION_STRICT, OPTION_BITS,   OPTION_SEED,      OPTION_COUNT};
static const option_set sets[] = {own_options, lsh_options, run_options, NULL};

struct related_arguments {
    cog_input_options input;
    cog_related_options related;
    cog_run_options run;
};

static bool take_arguments(const struct arguments *arguments, struct related_arguments *taken) {
    if (!take_input_options(arguments, &taken->input) ||
        !take_related_options(arguments, &taken->related) ||
        !take_run_options(arguments, &taken->run))
        return false;
    taken->input.format = COG_FORMAT_QUERYLOG;
    if (arguments->word_count == 0)
        return usage_error(arguments, "no input; give query logs, folders, or -");
    return true;
}

static int run(const struct arguments *arguments) {
    struct related_arguments taken;
    if (!take_arguments(arguments, &taken))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_documents *documents = NULL;
    cog_pairs *pairs = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_documents_open(&taken.input, arguments->words, arguments->word_count,
                                    &documents, &error);
    if (status == COG_OK)
        status = cog_related_find(documents, &taken.related, &taken.run, &pairs, report, &error);
    int code = finish_pairs(arguments, status, &error, report, pairs);
    cog_pairs_free(pairs);
    cog_documents_close(documents);
    cog_report_free(report);
    return code;
}

const struct command command_related = {
    .name = "related",
    .synopsis = "LOG... [OPTIONS]",
    .summary = "related queries from a query log",
    .description =
        "Reads query logs in the columns of AOL's (AnonID, Query, QueryTime, ItemRank,\n"
        "ClickURL), or query TAB url TAB clicks, and lists the pairs of queries whose clicks are\n"
        "alike: the cosine of their vectors of clicked URLs, weighted by clicks, is at or above\n"
        "the threshold (0.7). Queries with five or fewer distinct URLs say too little and are\n"
        "left out; see --min-urls.",
    .sets = sets,
    .run = run,
};

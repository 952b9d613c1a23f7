#include "command.h"

static const enum option_id own_options[] = {
    OPTION_QUERIES, OPTION_MIN_URLS, OPTION_OUTPUT, OPTION_FORMAT, OPTION_THRESHOLD, OPTION_METHOD,
    OPTION_RECALL,  OPTION_STRICT,   OPTION_BITS,   OPTION_SEED,   OPTION_COUNT};
static const enum option_id usual[] = {OPTION_QUERIES, OPTION_COUNT};
static const option_set sets[] = {own_options, run_options, NULL};
static const struct option_text texts[] = {
    {OPTION_THRESHOLD, "least cosine of two queries, 0 to 1 (default: 0.7)"}, {OPTION_COUNT, NULL}};

static cog_status run(struct session *session) {
    const struct arguments *arguments = session->arguments;
    cog_input_options input;
    cog_related_options options;
    cog_related_options_init(&options);
    if (!take_input_options(arguments, &input) || !take_pairs_options(arguments, &options.pairs) ||
        !unsigned_option(arguments, OPTION_MIN_URLS, 1, UINT32_MAX, &options.min_urls))
        return COG_ERR_USAGE;
    if (arguments->word_count == 0)
        return REFUSE(arguments, "no input; give query logs, folders, or -");
    input.format = COG_FORMAT_QUERYLOG;
    options.queries_file = arguments->values[OPTION_QUERIES];
    cog_documents *documents = NULL;
    cog_pairs *pairs = NULL;
    cog_status status = cog_documents_open(&input, arguments->words, arguments->word_count,
                                           &documents, &session->error);
    THEN(status, cog_related_find(documents, &options, &session->run, &pairs, session->report,
                                  &session->error));
    status = write_pairs(session, status, pairs);
    cog_documents_close(documents);
    return status;
}

const struct command command_related = {
    .name = "related",
    .synopsis = "LOG... [OPTIONS]",
    .summary = "related queries from a query log",
    .description =
        "Lists pairs of queries whose users clicked the same URLs: the cosine of their vectors of "
        "clicks is at or above the threshold.\n\n"
        "A log has the columns of AOL's (AnonID, Query, QueryTime, ItemRank, ClickURL), or query "
        "TAB url TAB clicks. Queries with few distinct URLs are left out; see --min-urls. With "
        "--queries, only neighbours of the given queries are listed, the given query first; they "
        "are searched in the whole log. The exit status is 1 if no pair is found.",
    .examples = "cognate related clicks.tsv.gz -o related.tsv\n"
                "cognate related logs/ --threshold 0.5 --min-urls 3 --format jsonl\n"
                "cognate related clicks.tsv.gz --queries mine.txt --method lsh",
    .sets = sets,
    .usual = usual,
    .texts = texts,
    .methods = "auto|exact|lists|flat|lsh|window",
    .knobs = COG_KNOB_PAIRS,
    .without = "band-values|shared-window",
    .see = "pairs search",
    .run = run,
};

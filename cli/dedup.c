#include "command.h"

static const enum option_id own_options[] = {OPTION_OUTPUT, OPTION_CLUSTERS, OPTION_REJECTS,
                                             OPTION_FORMAT, OPTION_KEEP,     OPTION_GROUPING,
                                             OPTION_COUNT};
static const option_set sets[] = {own_options,    pair_options,      input_options, term_options,
                                  weight_options, signature_options, run_options,   NULL};
static const enum option_id usual[] = {OPTION_INPUT_FORMAT, OPTION_COUNT};
static const struct option_text texts[] = {
    {OPTION_OUTPUT, "file for the kept records, or a folder: one file per input file"},
    {OPTION_FORMAT, "format of --clusters (default: tsv)"},
    {OPTION_MEASURE, "Jaccard of word 3-grams (default), or cosine of words"},
    {OPTION_SIGNATURE, "kind that methods of signatures use (default: minhash; cosine: rp)"},
    {OPTION_COUNT, NULL}};

static bool take_options(const struct arguments *arguments, cog_dedup_options *options) {
    cog_dedup_options_init(options);
    cog_pairs_options_init(&options->pairs, (cog_measure)choice_option(arguments, OPTION_MEASURE,
                                                                       COG_MEASURE_JACCARD));
    options->keep = (cog_keep)choice_option(arguments, OPTION_KEEP, COG_KEEP_LONGEST);
    options->grouping =
        (cog_grouping)choice_option(arguments, OPTION_GROUPING, COG_GROUP_REPRESENTATIVE);
    if (!take_pairs_options(arguments, &options->pairs))
        return false;
    if (arguments->word_count == 0)
        return usage_error(arguments, "no input; give files, folders, or -");
    if (!has_option(arguments, OPTION_OUTPUT) && !has_option(arguments, OPTION_CLUSTERS))
        return usage_error(arguments, "no output; give -o FILE, or --clusters FILE");
    if (has_option(arguments, OPTION_FORMAT) && !has_option(arguments, OPTION_CLUSTERS))
        return usage_error(arguments, "--format is that of --clusters FILE; kept records stay as "
                                      "they are");
    return true;
}

static cog_status run(struct session *session) {
    const struct arguments *arguments = session->arguments;
    cog_input_options input;
    cog_dedup_options options;
    if (!take_input_options(arguments, &input) || !take_options(arguments, &options))
        return COG_ERR_USAGE;
    cog_dedup_outputs outputs = {arguments->values[OPTION_OUTPUT],
                                 arguments->values[OPTION_CLUSTERS],
                                 arguments->values[OPTION_REJECTS], output_format(arguments)};
    cog_documents *documents = NULL;
    cog_clusters *clusters = NULL;
    cog_status status = cog_documents_open(&input, arguments->words, arguments->word_count,
                                           &documents, &session->error);
    THEN(status, cog_dedup(documents, &options, &outputs, &session->run, &clusters, session->report,
                           &session->error));
    cog_clusters_free(clusters);
    cog_documents_close(documents);
    return status;
}

static void summarize(const struct session *session) {
    const cog_report *report = session->report;
    fputs("cognate: ", stderr);
    print_count(cog_report_number(report, "documents"), "document", stderr);
    fprintf(stderr, ", %.0f kept, %.0f removed in ", cog_report_number(report, "kept"),
            cog_report_number(report, "removed"));
    print_count(cog_report_number(report, "clusters"), "cluster", stderr);
    print_skipped(cog_report_number(report, "bad_records"), "record");
    fputc('\n', stderr);
}

const struct command command_dedup = {
    .name = "dedup",
    .synopsis = "IN... -o OUT [OPTIONS]",
    .summary = "remove near-duplicates, write the rest in the input's format",
    .description =
        "Keeps one document of each cluster of near-duplicates and writes the kept records byte "
        "for byte, in input order.\n\n"
        "Two documents are near-duplicates if the Jaccard coefficient of their sets of word "
        "3-grams is at or above the threshold; it is computed exactly. The longest document of a "
        "cluster is kept unless --keep says otherwise. \n\n"
        "If OUT is a folder, or ends in /, it receives one file per input file, of the same "
        "relative "
        "name, format and compression; files of these names must not exist yet. If each input file "
        "is a document (txt), OUT is always a folder and receives the kept files.\n\n"
        "A document is removed only if it is within the threshold of the one that is kept for "
        "it, so chains of similar documents do not swallow a collection; --grouping connected "
        "follows the chains.",
    .examples = "cognate dedup crawl.jsonl.gz -o kept.jsonl.gz\n"
                "cognate dedup crawl/ -o kept/ --threshold 0.9 --clusters clusters.tsv",
    .sets = sets,
    .usual = usual,
    .texts = texts,
    .methods = "auto|exact|lists|flat|lsh|window",
    .knobs = COG_KNOB_PAIRS,
    .without = "shared-window",
    .see = "pairs explain",
    .run = run,
    .summarize = summarize,
};

#include <stdlib.h>
#include <string.h>

#include "command.h"

static const enum option_id own_options[] = {
    OPTION_OUTPUT, OPTION_CLUSTERS, OPTION_REMOVED, OPTION_REJECTS,  OPTION_FORMAT,
    OPTION_KEEP,   OPTION_DRY_RUN,  OPTION_MARK,    OPTION_GROUPING, OPTION_AGAINST,
    OPTION_WORK,   OPTION_RESUME,   OPTION_REPORT,  OPTION_VERDICTS, OPTION_COUNT};
static const option_set sets[] = {own_options,    pair_options,      input_options, term_options,
                                  weight_options, signature_options, run_options,   NULL};
static const enum option_id usual[] = {OPTION_INPUT_FORMAT, OPTION_MEMORY, OPTION_COUNT};
static const struct option_text texts[] = {
    {OPTION_OUTPUT, "kept records: one file, or a folder of files as read"},
    {OPTION_FORMAT, "format of --clusters and --removed (default: tsv)"},
    {OPTION_AGAINST, "remove near-duplicates of these inputs, or of an index"},
    {OPTION_MEASURE, "of word 3-grams (default: jaccard), or cosine of words"},
    {OPTION_SIGNATURE, "kind that methods of signatures use (default: minhash; cosine: rp)"},
    {OPTION_COUNT, NULL}};

/* Splits field:NAME:min; the name is the caller's to free. */
static bool take_keep(const struct arguments *arguments, cog_dedup_options *options, char **field) {
    static const char *const names[] = {"longest", "first", "last"};
    const char *value = arguments->values[OPTION_KEEP];
    for (size_t i = 0; value && i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            options->keep = (cog_keep)i;
            return true;
        }
    if (!value)
        return true;
    if (strncmp(value, "field:", 6) != 0 || !value[6])
        return usage_error(arguments,
                           "--keep %s: give longest, first, last, field:NAME or "
                           "field:NAME:min",
                           value);
    options->keep = COG_KEEP_FIELD;
    *field = strdup(value + 6);
    char *end = *field ? strrchr(*field, ':') : NULL;
    options->keep_least = end && strcmp(end, ":min") == 0;
    if (end && (options->keep_least || strcmp(end, ":max") == 0))
        *end = 0;
    options->keep_field = *field;
    return true;
}

static bool check_outputs(const struct arguments *arguments) {
    const bool has_table =
        has_option(arguments, OPTION_CLUSTERS) || has_option(arguments, OPTION_REMOVED);
    const bool is_dry = has_option(arguments, OPTION_DRY_RUN);
    if (has_option(arguments, OPTION_MARK) && !has_option(arguments, OPTION_OUTPUT))
        return usage_error(arguments, "--mark FIELD needs -o FILE for the marked records");
    if (is_dry && has_option(arguments, OPTION_OUTPUT))
        return usage_error(arguments, "--dry-run writes no kept records: leave out -o");
    if (!has_option(arguments, OPTION_OUTPUT) && !has_table && !is_dry &&
        !has_option(arguments, OPTION_REPORT))
        return usage_error(arguments, "no output; give -o FILE, --clusters FILE, --removed FILE, "
                                      "--report FILE or --dry-run");
    if (has_option(arguments, OPTION_FORMAT) && !has_table)
        return usage_error(arguments, "--format is that of --clusters and --removed; kept records "
                                      "stay as they are");
    return true;
}

static bool take_options(const struct arguments *arguments, cog_dedup_options *options,
                         char **field) {
    cog_dedup_options_init(options);
    cog_pairs_options_init(&options->pairs, (cog_measure)choice_option(arguments, OPTION_MEASURE,
                                                                       COG_MEASURE_JACCARD));
    options->grouping =
        (cog_grouping)choice_option(arguments, OPTION_GROUPING, COG_GROUP_REPRESENTATIVE);
    if (!take_keep(arguments, options, field) || !take_pairs_options(arguments, &options->pairs))
        return false;
    options->work = arguments->values[OPTION_WORK];
    options->resume = has_option(arguments, OPTION_RESUME);
    options->verdicts = arguments->values[OPTION_VERDICTS];
    if (arguments->first_count == 0)
        return usage_error(arguments, "no input; give files, folders, or -");
    return check_outputs(arguments);
}

static cog_status run(struct session *session) {
    const struct arguments *arguments = session->arguments;
    const size_t first = arguments->first_count;
    cog_input_options input;
    cog_dedup_options options;
    char *field = NULL;
    if (!take_input_options(arguments, &input) || !take_options(arguments, &options, &field)) {
        free(field);
        return COG_ERR_USAGE;
    }
    const cog_dedup_outputs outputs = {.kept = arguments->values[OPTION_OUTPUT],
                                       .clusters = arguments->values[OPTION_CLUSTERS],
                                       .removed = arguments->values[OPTION_REMOVED],
                                       .mark = arguments->values[OPTION_MARK],
                                       .rejects = arguments->values[OPTION_REJECTS],
                                       .report = arguments->values[OPTION_REPORT],
                                       .clusters_format = output_format(arguments)};
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_clusters *clusters = NULL;
    cog_error *error = &session->error;
    cog_status status = cog_documents_open(&input, arguments->words, first, &documents, error);
    if (has_option(arguments, OPTION_AGAINST))
        THEN(status,
             open_reference(session, &input, &options.pairs.sign.terms, &options.against, &index));
    options.against_index = index;
    THEN(status, cog_dedup(documents, &options, &outputs, &session->run, &clusters, session->report,
                           error));
    cog_clusters_free(clusters);
    cog_documents_close(documents);
    cog_documents_close(options.against);
    cog_index_close(index);
    free(field);
    return status;
}

static void summarize(const struct session *session) {
    const cog_report *report = session->report;
    fputs("cognate: ", stderr);
    print_count(cog_report_number(report, "documents"), "document", stderr);
    fprintf(stderr, ", %.0f kept, %.0f removed", cog_report_number(report, "kept"),
            cog_report_number(report, "removed"));
    if (!has_option(session->arguments, OPTION_AGAINST)) {
        fputs(" in ", stderr);
        print_count(cog_report_number(report, "clusters"), "cluster", stderr);
    }
    print_skipped(cog_report_number(report, "bad_records"), "record");
    fputc('\n', stderr);
}

const struct command command_dedup = {
    .name = "dedup",
    .synopsis = "IN... -o OUT [OPTIONS]",
    .summary = "remove near-duplicates; write the rest in the input's format",
    .description =
        "Keeps one document of each cluster of near-duplicates and writes the kept records byte "
        "for byte, in input order.\n\n"
        "Two documents are near-duplicates if the Jaccard coefficient of their sets of word "
        "3-grams is at or above the threshold; it is computed exactly. The longest document of a "
        "cluster is kept, or the one chosen by --keep. Containment is the share of the smaller "
        "document's 3-grams that the larger one has; of two documents, only the smaller can be "
        "removed.\n\n"
        "If OUT is a folder, or ends in /, it receives one file per input file, with the same "
        "relative name, format and compression; these files must not exist yet. If each input "
        "file is one document (txt), OUT is always a folder and receives the kept files.\n\n"
        "Documents are considered in the order of --keep. A document that is near no kept "
        "document is kept; any other is removed, and the first kept document that it is near "
        "stands for it. --grouping connected follows chains of near-duplicates instead.\n\n"
        "--against removes documents that are near a document of the reference collection; "
        "documents of the input are then not compared with each other. The reference collection "
        "may be an index, built with the same --measure: each document of the input is then "
        "looked up there.",
    .examples = "cognate dedup crawl.jsonl.gz -o kept.jsonl.gz\n"
                "cognate dedup crawl/ -o kept/ --threshold 0.9 --report report.html",
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

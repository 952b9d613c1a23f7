#include "command.h"

static const enum option_id own_options[] = {OPTION_OUTPUT, OPTION_CLUSTERS, OPTION_REJECTS,
                                             OPTION_FORMAT, OPTION_KEEP,     OPTION_GROUPING,
                                             OPTION_COUNT};
static const option_set sets[] = {own_options,       pair_options, lsh_options,
                                  input_options,     term_options, weight_options,
                                  signature_options, run_options,  NULL};

struct dedup_arguments {
    cog_input_options input;
    cog_dedup_options dedup;
    cog_run_options run;
    cog_dedup_outputs outputs;
};

static bool take_arguments(const struct arguments *arguments, struct dedup_arguments *taken) {
    cog_dedup_options_init(&taken->dedup);
    taken->outputs = (cog_dedup_outputs){
        arguments->values[OPTION_OUTPUT], arguments->values[OPTION_CLUSTERS],
        arguments->values[OPTION_REJECTS],
        (cog_output_format)choice_option(arguments, OPTION_FORMAT, COG_OUTPUT_TSV)};
    if (!take_input_options(arguments, &taken->input) ||
        !take_pairs_options(arguments, COG_MEASURE_JACCARD, &taken->dedup.pairs) ||
        !take_run_options(arguments, &taken->run))
        return false;
    taken->dedup.keep = (cog_keep)choice_option(arguments, OPTION_KEEP, COG_KEEP_LONGEST);
    taken->dedup.grouping =
        (cog_grouping)choice_option(arguments, OPTION_GROUPING, COG_GROUP_REPRESENTATIVE);
    if (arguments->word_count == 0)
        return usage_error(arguments, "no input; give files, folders, or -");
    if (!taken->outputs.kept && !taken->outputs.clusters)
        return usage_error(arguments, "no output; give -o FILE, or --clusters FILE");
    if (has_option(arguments, OPTION_FORMAT) && !taken->outputs.clusters)
        return usage_error(arguments, "--format is that of --clusters FILE; kept records stay as "
                                      "they are");
    return true;
}

static void print_summary(const cog_report *report) {
    double skipped = cog_report_number(report, "bad_records");
    double documents = cog_report_number(report, "documents");
    double clusters = cog_report_number(report, "clusters");
    fprintf(stderr, "cognate: %.0f document%s, %.0f kept, %.0f removed in %.0f cluster%s",
            documents, documents == 1 ? "" : "s", cog_report_number(report, "kept"),
            cog_report_number(report, "removed"), clusters, clusters == 1 ? "" : "s");
    if (skipped > 0)
        fprintf(stderr, "; %.0f record%s skipped", skipped, skipped == 1 ? " was" : "s were");
    fputc('\n', stderr);
}

static int run(const struct arguments *arguments) {
    struct dedup_arguments taken;
    if (!take_arguments(arguments, &taken))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_documents *documents = NULL;
    cog_clusters *clusters = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_documents_open(&taken.input, arguments->words, arguments->word_count,
                                    &documents, &error);
    if (status == COG_OK)
        status = cog_dedup(documents, &taken.dedup, &taken.outputs, &taken.run, &clusters, report,
                           &error);
    int code = finish_job(arguments, status, &error, report);
    if (code == EXIT_DONE && !has_option(arguments, OPTION_QUIET))
        print_summary(report);
    cog_clusters_free(clusters);
    cog_documents_close(documents);
    cog_report_free(report);
    return code;
}

const struct command command_dedup = {
    .name = "dedup",
    .synopsis = "IN... -o OUT [OPTIONS]",
    .summary = "remove near-duplicates, write the rest in the input's format",
    .description =
        "Finds documents that are equal or nearly so (Jaccard coefficient of their sets of word\n"
        "3-grams at or above the threshold, computed exactly), keeps one of each cluster, the\n"
        "longest unless told otherwise, and writes the kept records byte for byte in the order\n"
        "of the input. Where each file is a document (txt), OUT is a folder that receives the\n"
        "kept files.\n"
        "\n"
        "A document goes only if it is within the threshold of the one that is kept for it, so\n"
        "chains of similar documents do not swallow a collection; --grouping connected follows\n"
        "the chains.",
    .sets = sets,
    .run = run,
};

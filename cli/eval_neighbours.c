/* cognate eval neighbours: files of results against each other, or a method against the exhaustive
 * answer. */
#include "command.h"
#include "eval.h"

static void print_quality(const cog_neighbour_quality *quality) {
    printf("queries\t%zu\nrecall@%zu\t%.4f\n", quality->queries, quality->k, quality->recall);
    if (quality->cdr >= 0)
        printf("CDR@%zu\t%.4f\n", quality->k, quality->cdr);
}

static cog_status search_with(const cog_index *index, const cog_signatures *queries,
                              const float *weights, const cog_search_options *options,
                              const cog_run_options *run, cog_hits **hits, double *seconds,
                              cog_report *report, cog_error *error) {
    cog_status status =
        cog_index_search_signatures(index, queries, weights, options, run, hits, report, error);
    *seconds = status == COG_OK ? cog_report_number(report, "searching") : 0;
    return status;
}

struct compared {
    cog_index *index;
    cog_signatures *queries;
    cog_weights *weights;
    cog_hits *found, *truth;
    cog_report *exhaustive; /* of the true answer */
};

static void compared_free(struct compared *compared) {
    cog_hits_free(compared->found);
    cog_hits_free(compared->truth);
    cog_index_close(compared->index);
    cog_signatures_free(compared->queries);
    cog_weights_free(compared->weights);
    cog_report_free(compared->exhaustive);
}

static cog_status compare(const struct arguments *arguments, const cog_run_options *run,
                          cog_search_options search, struct compared *compared, cog_report *report,
                          cog_error *error) {
    const char *weight_path = arguments->values[OPTION_QUERY_WEIGHTS];
    const float *weights = NULL;
    double found_seconds, truth_seconds;
    cog_status status = cog_index_open(arguments->words[1], &compared->index, error);
    if (status == COG_OK)
        status = cog_signatures_open(arguments->words[2], &compared->queries, error);
    if (status == COG_OK && weight_path)
        status = cog_weights_open(weight_path, &compared->weights, error);
    if (status == COG_OK && compared->weights)
        status = cog_weights_of(compared->weights, compared->queries, &weights, error);
    if (status == COG_OK)
        status = cog_report_create(&compared->exhaustive, error);
    search.recall_sample = 0;
    if (status == COG_OK)
        status = search_with(compared->index, compared->queries, weights, &search, run,
                             &compared->found, &found_seconds, report, error);
    search.method = COG_METHOD_FLAT;
    if (status == COG_OK)
        status = search_with(compared->index, compared->queries, NULL, &search, run,
                             &compared->truth, &truth_seconds, compared->exhaustive, error);
    cog_neighbour_quality quality;
    if (status == COG_OK)
        status = cog_evaluate_hits(compared->found, compared->truth, search.k, &quality, error);
    if (status != COG_OK)
        return status;
    print_quality(&quality);
    double queries = quality.queries ? (double)quality.queries : 1;
    printf("ms a query\t%.4f\nms a query, exhaustive\t%.4f\n", found_seconds / queries * 1e3,
           truth_seconds / queries * 1e3);
    return COG_OK;
}

static int evaluate_method(const struct arguments *arguments) {
    cog_run_options run;
    cog_search_options search;
    if (!take_search_options(arguments, &search) || !take_run_options(arguments, &run))
        return EXIT_USAGE;
    struct compared compared = {0};
    cog_error error = {0};
    cog_report *report = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = compare(arguments, &run, search, &compared, report, &error);
    int code = finish_job(arguments, status, &error, report);
    compared_free(&compared);
    cog_report_free(report);
    return code;
}

static int evaluate_files(const struct arguments *arguments) {
    uint64_t k = 10, bits = 1024;
    cog_neighbour_quality quality;
    cog_error error = {0};
    if (!number_option(arguments, OPTION_NEIGHBOURS, 1, UINT32_MAX, &k) ||
        !number_option(arguments, OPTION_BITS, 1, 4096, &bits))
        return EXIT_USAGE;
    cog_report *report = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_evaluate_neighbour_files(arguments->words[1], arguments->words[2], (size_t)k,
                                              (uint32_t)bits, &quality, &error);
    if (status == COG_OK)
        print_quality(&quality);
    int code = finish_job(arguments, status, &error, report);
    cog_report_free(report);
    return code;
}

int evaluate_neighbours(const struct arguments *arguments) {
    if (arguments->word_count != 3) {
        usage_error(arguments, "neighbours: give FOUND.tsv TRUTH.tsv, or INDEX QUERIES.npy");
        return EXIT_USAGE;
    }
    return cog_index_exists(arguments->words[1]) ? evaluate_method(arguments)
                                                 : evaluate_files(arguments);
}

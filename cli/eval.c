#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "eval.h"

/* The rows of Table 1 of Ture et al. 2011: minhash values there have 32 bits. */
static const struct {
    cog_signature_kind kind;
    unsigned bits;
} usual_kinds[] = {{COG_SIGNATURE_MINHASH, 64}, {COG_SIGNATURE_SIMHASH, 64},
                   {COG_SIGNATURE_RP, 64},      {COG_SIGNATURE_RP, 100},
                   {COG_SIGNATURE_RP, 200},     {COG_SIGNATURE_RP, 500},
                   {COG_SIGNATURE_RP, 1000},    {COG_SIGNATURE_MINHASH, 992}};
enum { USUAL_KINDS = sizeof usual_kinds / sizeof *usual_kinds };

static size_t choose_kinds(const struct arguments *arguments, const cog_sign_options *sign,
                           cog_signature_options kinds[USUAL_KINDS]) {
    if (has_option(arguments, OPTION_SIGNATURE)) {
        kinds[0] = sign->signature;
        return 1;
    }
    for (size_t i = 0; i < USUAL_KINDS; i++) {
        cog_signature_options_init(&kinds[i], usual_kinds[i].kind);
        kinds[i].bits = usual_kinds[i].bits;
        kinds[i].seed = sign->signature.seed;
    }
    return USUAL_KINDS;
}

static void print_errors(const cog_signature_error *results, size_t count) {
    static const char *const names[] = {"rp", "simhash", "topsig", "minhash"};
    puts("signature\tbits\terror\terror_above_0.1\terror_above_0.2\ttheory\tratio\tms");
    for (size_t i = 0; i < count; i++) {
        const cog_signature_error *row = &results[i];
        printf("%s\t%u\t%.4f\t%.4f\t%.4f\t", names[row->signature.kind], row->signature.bits,
               row->error[0], row->error[1], row->error[2]);
        if (row->signature.kind == COG_SIGNATURE_MINHASH)
            printf("-\t-\t%.4f\n", row->milliseconds);
        else
            printf("%.4f\t%.3f\t%.4f\n", row->theory[0], row->error[0] / row->theory[0],
                   row->milliseconds);
    }
}

static int evaluate_signatures(const struct arguments *arguments) {
    cog_input_options input;
    cog_sign_options sign;
    cog_run_options run;
    uint64_t sample = 1064, seeds = 10;
    if (!take_input_options(arguments, &input) ||
        !take_sign_options(arguments, COG_SIGNATURE_RP, &sign) ||
        !take_run_options(arguments, &run) ||
        !number_option(arguments, OPTION_SAMPLE, 2, 20000, &sample) ||
        !number_option(arguments, OPTION_SEEDS, 1, 1000, &seeds))
        return EXIT_USAGE;
    if (arguments->word_count < 2) {
        usage_error(arguments, "no input; give files, folders, or -");
        return EXIT_USAGE;
    }
    cog_signature_options kinds[USUAL_KINDS];
    cog_signature_error results[USUAL_KINDS];
    size_t count = choose_kinds(arguments, &sign, kinds);
    cog_error error = {0};
    cog_report *report = NULL;
    cog_documents *documents = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_documents_open(&input, arguments->words + 1, arguments->word_count - 1,
                                    &documents, &error);
    if (status == COG_OK)
        status = cog_evaluate_signatures(documents, &sign, kinds, count, (size_t)sample,
                                         (unsigned)seeds, &run, results, report, &error);
    if (status == COG_OK)
        print_errors(results, count);
    int code = finish_job(arguments, status, &error, report);
    cog_documents_close(documents);
    cog_report_free(report);
    return code;
}

static int evaluate_links(const struct arguments *arguments) {
    cog_error error = {0};
    cog_link_scores scores;
    cog_run_options run;
    if (!take_run_options(arguments, &run))
        return EXIT_USAGE;
    if (arguments->word_count != 2 || !has_option(arguments, OPTION_GOLD)) {
        usage_error(arguments,
                    "give the links and the known ones: links FOUND.tsv --gold GOLD.tsv");
        return EXIT_USAGE;
    }
    cog_report *report = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_evaluate_link_file(arguments->words[1], arguments->values[OPTION_GOLD], &run,
                                        &scores, &error);
    if (status == COG_OK)
        print_link_scores(&scores, stdout);
    int code = finish_job(arguments, status, &error, report);
    cog_report_free(report);
    return code;
}

static const enum option_id sample_options[] = {OPTION_SAMPLE, OPTION_SEEDS, OPTION_COUNT};
static const enum option_id neighbour_options[] = {
    OPTION_NEIGHBOURS, OPTION_BITS,  OPTION_SEARCH_METHOD, OPTION_SEARCH_RECALL,
    OPTION_EXPAND,     OPTION_ADMIT, OPTION_QUERY_WEIGHTS, OPTION_COUNT};
static const enum option_id gold_options[] = {OPTION_GOLD, OPTION_COUNT};

static const option_set signature_sets[] = {
    sample_options,    input_options, term_options, weight_options,
    signature_options, run_options,   NULL};
static const option_set neighbour_sets[] = {neighbour_options, run_options, NULL};
static const option_set link_sets[] = {gold_options, run_options, NULL};

static const struct command actions[] = {
    {.name = "signatures",
     .synopsis = "IN... [OPTIONS]",
     .summary = "how well signatures estimate the cosine",
     .description =
         "The mean absolute error of the cosine that signatures estimate, over all pairs of a\n"
         "sample of documents, pairs above 0.1 and pairs above 0.2; beside it what theory\n"
         "expects of random signs, the ratio of the two, and the milliseconds to sign a\n"
         "document. Without --signature, the usual kinds and widths are compared. Minhash, which\n"
         "estimates a Jaccard coefficient, is set beside the cosine of the same sets, as in the\n"
         "paper's table.",
     .sets = signature_sets,
     .run = evaluate_signatures},
    {.name = "neighbours",
     .synopsis = "FOUND.tsv TRUTH.tsv | INDEX QUERIES.npy [OPTIONS]",
     .summary = "search results beside the true ones",
     .description =
         "Recall@k and the cumulative distance ratio CDR@k of search results beside the true\n"
         "ones, of two files that cognate search wrote, or of a method beside the exhaustive\n"
         "answer. Ties count the same whichever of them is found. In files, a missing place\n"
         "counts as a distance of --bits (1024).",
     .sets = neighbour_sets,
     .run = evaluate_neighbours},
    {.name = "links",
     .synopsis = "FOUND.tsv --gold GOLD.tsv [OPTIONS]",
     .summary = "links across languages beside known ones",
     .description =
         "Precision and recall of the links that cognate link wrote, beside known ones (two ids\n"
         "a line); recall@1, how many sources have a known partner as the best of their links;\n"
         "and the recall of the best links, as many as are 99% right.",
     .sets = link_sets,
     .run = evaluate_links},
    {.name = NULL},
};

const struct command command_eval = {
    .name = "eval",
    .synopsis = "signatures IN... | neighbours FOUND.tsv TRUTH.tsv | neighbours INDEX QUERIES.npy "
                "| links FOUND.tsv --gold GOLD.tsv [OPTIONS]",
    .summary = "measure a method against the exact answer",
    .actions = actions,
};

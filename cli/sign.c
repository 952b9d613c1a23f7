#include "command.h"

static const enum option_id own_options[] = {
    OPTION_OUTPUT,     OPTION_WEIGHTS,         OPTION_IDS,
    OPTION_STATISTICS, OPTION_SAVE_STATISTICS, OPTION_COUNT};
static const option_set sets[] = {own_options,       input_options, term_options, weight_options,
                                  signature_options, run_options,   NULL};

struct sign_arguments {
    cog_input_options input;
    cog_sign_options sign;
    cog_run_options run;
    cog_sign_outputs outputs;
};

static bool take_arguments(const struct arguments *arguments, struct sign_arguments *taken) {
    taken->outputs =
        (cog_sign_outputs){arguments->values[OPTION_OUTPUT], arguments->values[OPTION_WEIGHTS],
                           arguments->values[OPTION_IDS]};
    if (!take_input_options(arguments, &taken->input) ||
        !take_sign_options(arguments, COG_SIGNATURE_RP, &taken->sign) ||
        !take_run_options(arguments, &taken->run))
        return false;
    if (arguments->word_count == 0)
        return usage_error(arguments, "no input; give files, folders, or -");
    if (!taken->outputs.signatures)
        return usage_error(arguments, "no output; give -o FILE.npy");
    return true;
}

/* Statistics from a file, or collected here where they are to be kept; else NULL, and signing
 * collects its own where it needs them. */
static cog_status prepare_statistics(const struct arguments *arguments,
                                     const struct sign_arguments *taken, cog_documents *documents,
                                     cog_statistics **statistics, cog_report *report,
                                     cog_error *error) {
    const char *from = arguments->values[OPTION_STATISTICS];
    const char *to = arguments->values[OPTION_SAVE_STATISTICS];
    cog_status status = COG_OK;
    if (from)
        status = cog_statistics_open(from, &taken->sign.terms, statistics, error);
    else if (to)
        status = cog_statistics_collect(documents, &taken->sign.terms, &taken->run, statistics,
                                        report, error);
    if (status == COG_OK && to)
        status = cog_statistics_save(*statistics, to, error);
    return status;
}

static int run(const struct arguments *arguments) {
    struct sign_arguments taken;
    if (!take_arguments(arguments, &taken))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_documents *documents = NULL;
    cog_statistics *statistics = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_documents_open(&taken.input, arguments->words, arguments->word_count,
                                    &documents, &error);
    if (status == COG_OK)
        status = prepare_statistics(arguments, &taken, documents, &statistics, report, &error);
    if (status == COG_OK)
        status = cog_sign(documents, &taken.sign, statistics, &taken.outputs, &taken.run, report,
                          &error);
    int code = finish_job(arguments, status, &error, report);
    cog_statistics_free(statistics);
    cog_documents_close(documents);
    cog_report_free(report);
    return code;
}

const struct command command_sign = {
    .name = "sign",
    .synopsis = "IN... -o SIGNATURES.npy [OPTIONS]",
    .summary = "signatures of documents, as a numpy file",
    .description =
        "Reads documents from files, folders, or standard input (-), and writes one row of bits\n"
        "a document: uint8 [documents, bits / 8] as numpy.packbits orders them. Memory does not\n"
        "grow with the input, but for the vocabulary that BM25 and TF-IDF hold; their term\n"
        "counts wait in a scratch file beside the output (or, without room for it, the input is\n"
        "read twice).\n"
        "\n"
        "Usual terms and weights follow the kind: rp and topsig stemmed words without stop words\n"
        "by BM25, simhash words by their frequency, minhash sets of word 3-grams.",
    .sets = sets,
    .run = run,
};

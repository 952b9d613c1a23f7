#include "command.h"

static const enum option_id own_options[] = {
    OPTION_OUTPUT,     OPTION_MARGINS,         OPTION_IDS,
    OPTION_STATISTICS, OPTION_SAVE_STATISTICS, OPTION_COUNT};
static const option_set sets[] = {
    own_options,       input_options,      term_options, weight_options,
    signature_options, projection_options, run_options,  NULL};
static const enum option_id usual[] = {OPTION_SIGNATURE, OPTION_BITS, OPTION_SEED, OPTION_LANG,
                                       OPTION_COUNT};
static const struct option_text texts[] = {
    {OPTION_OUTPUT, "write the signatures here (.npy)"},
    {OPTION_LEXICON, "the documents are in its source language"},
    {OPTION_COUNT, NULL}};

/* Statistics from a file, or collected here if they are to be saved; else NULL, and signing
 * collects its own if it needs them. */
static cog_status prepare_statistics(struct session *session, const cog_term_options *terms,
                                     cog_documents *documents, cog_statistics **statistics) {
    const char *from = session->arguments->values[OPTION_STATISTICS];
    const char *to = session->arguments->values[OPTION_SAVE_STATISTICS];
    cog_status status = COG_OK;
    if (from)
        status = cog_statistics_open(from, terms, statistics, &session->error);
    else if (to)
        status = cog_statistics_collect(documents, terms, &session->run, statistics,
                                        session->report, &session->error);
    if (status == COG_OK && to)
        status = cog_statistics_save(*statistics, to, &session->error);
    return status;
}

static cog_status run(struct session *session) {
    const struct arguments *arguments = session->arguments;
    cog_input_options input;
    cog_sign_options sign;
    if (!take_input_options(arguments, &input) ||
        !take_sign_options(arguments, COG_SIGNATURE_RP, &sign))
        return COG_ERR_USAGE;
    if (arguments->word_count == 0 || !has_option(arguments, OPTION_OUTPUT))
        return REFUSE(arguments, arguments->word_count == 0 ? "no input; give files, folders, or -"
                                                            : "no output; give -o FILE.npy");
    cog_sign_outputs outputs = {arguments->values[OPTION_OUTPUT], arguments->values[OPTION_MARGINS],
                                arguments->values[OPTION_IDS]};
    cog_documents *documents = NULL;
    cog_statistics *statistics = NULL;
    cog_lexicon *lexicon = NULL;
    cog_status status = cog_documents_open(&input, arguments->words, arguments->word_count,
                                           &documents, &session->error);
    THEN(status, project_documents(session, documents, &lexicon));
    THEN(status, prepare_statistics(session, &sign.terms, documents, &statistics));
    THEN(status, cog_sign(documents, &sign, statistics, &outputs, &session->run, session->report,
                          &session->error));
    cog_statistics_free(statistics);
    cog_documents_close(documents);
    cog_lexicon_free(lexicon);
    return status;
}

const struct command command_sign = {
    .name = "sign",
    .synopsis = "IN... -o SIGNATURES.npy [OPTIONS]",
    .summary = "signatures of documents, as a numpy file",
    .description =
        "Writes one row of bits per document: uint8 [documents, bits / 8], in the bit order of "
        "numpy.packbits.\n\n"
        "Memory does not grow with the input, except for the vocabulary that BM25 and TF-IDF "
        "need. Their term counts are kept in a scratch file next to the output; if the disk has "
        "no room for it, the input is read twice.\n\n"
        "The default terms and weights depend on the kind: stemmed words without stop words by "
        "BM25 for rp and topsig, words by frequency for simhash, sets of word 3-grams for "
        "minhash.\n\n"
        "With --lexicon, documents of its source language are projected into its target language "
        "and then signed. To compare signatures of two collections, give both the same "
        "--statistics, best those of the target language. Documents that name the target language "
        "are signed as they are.",
    .examples = "cognate sign pages.jsonl -o pages.npy --ids pages.ids\n"
                "cognate sign texts/ -o s.npy --signature simhash --bits 64 --margins m.npy\n"
                "cognate sign en.jsonl -o en.npy --save-statistics en.stat\n"
                "cognate sign de.jsonl -o de.npy --lexicon de-en.lex --statistics en.stat",
    .sets = sets,
    .usual = usual,
    .texts = texts,
    .see = "pairs index search eval lexicon",
    .run = run,
};

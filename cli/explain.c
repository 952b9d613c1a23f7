#include <string.h>

#include "command.h"
#include "overlap.h"

static const enum option_id own_options[] = {OPTION_FROM, OPTION_TO, OPTION_MEASURE, OPTION_FORMAT,
                                             OPTION_COUNT};
static const option_set sets[] = {own_options,   projection_options, term_options, weight_options,
                                  input_options, run_options,        NULL};
static const struct option_text texts[] = {
    {OPTION_FROM, "collection of A, and of B if there is no --to; takes all inputs that follow"},
    {OPTION_TO, "collection of B; takes all inputs that follow"},
    {OPTION_MEASURE,
     "cosine of weighted words (default), or Jaccard or containment of word 3-grams, as in dedup"},
    {OPTION_FORMAT,
     "jaccard, containment: tsv lists the passages, jsonl has everything (default: text)"},
    {OPTION_COUNT, NULL}};

static const struct option_text choices[] = {{OPTION_FORMAT, "tsv|jsonl"}, {OPTION_COUNT, NULL}};

struct explain_arguments {
    cog_measure measure;
    cog_input_options input;
    cog_projection_options projection;
    cog_sign_options sign; /* without a lexicon */
    bool in_collections;   /* the words are ids, else files */
    const char *lexicon;
};

/* What was found by the cosine. */
struct explanation {
    cog_word_match *matches;
    size_t count;
    double cosine;
};

static bool check_words(const struct arguments *arguments, const struct explain_arguments *taken) {
    if (arguments->word_count < 2 || (!taken->in_collections && arguments->word_count != 2))
        return usage_error(arguments, "name two documents");
    for (int i = 0; taken->in_collections && i < 2; i++)
        if (arguments->word_places[i] > arguments->places[OPTION_FROM] ||
            (has_option(arguments, OPTION_TO) &&
             arguments->word_places[i] > arguments->places[OPTION_TO]))
            return usage_error(arguments, "name the two documents before --from and --to");
    return true;
}

/* Terms are those of the measure. */
static bool take_measure(const struct arguments *arguments, struct explain_arguments *taken) {
    static const enum option_id formats[] = {OPTION_FORMAT, OPTION_COUNT};
    static const enum option_id across[] = {OPTION_LEXICON, OPTION_COUNT};
    cog_pairs_options usual;
    taken->measure = (cog_measure)choice_option(arguments, OPTION_MEASURE, COG_MEASURE_COSINE);
    cog_pairs_options_init(&usual, taken->measure);
    taken->sign = usual.sign;
    if (taken->measure == COG_MEASURE_COSINE)
        return refuse_options(arguments, formats,
                              "applies to shared passages, not to the words of a cosine; give "
                              "--measure jaccard or containment");
    return refuse_options(arguments, across,
                          "compares two languages, which works by cosine only") &&
           refuse_weights(arguments);
}

static bool take_arguments(const struct arguments *arguments, struct explain_arguments *taken) {
    if (!take_measure(arguments, taken) || !take_input_options(arguments, &taken->input) ||
        !take_projection_options(arguments, &taken->projection) ||
        !take_term_options(arguments, &taken->sign.terms) ||
        !take_weight_options(arguments, &taken->sign.weights) || !check_lexicon_options(arguments))
        return false;
    taken->lexicon = arguments->values[OPTION_LEXICON];
    taken->in_collections = has_option(arguments, OPTION_FROM);
    bool both = has_option(arguments, OPTION_TO);
    if (taken->lexicon ? taken->in_collections != both : both && !taken->in_collections)
        return usage_error(arguments, "give both collections: --from IN... --to IN...");
    return check_words(arguments, taken);
}

static cog_status open_inputs(const struct arguments *arguments,
                              const struct explain_arguments *taken, cog_documents *documents[2],
                              cog_error *error) {
    static const enum option_id sides[2] = {OPTION_FROM, OPTION_TO};
    cog_status status = COG_OK;
    for (int i = 0; i < 2 && status == COG_OK; i++) {
        if (!taken->in_collections)
            status =
                cog_documents_open(&taken->input, &arguments->words[i], 1, &documents[i], error);
        else if (has_option(arguments, sides[i]))
            status = open_side(arguments, sides[i], sides[!i], &taken->input, &documents[i], error);
    }
    return status;
}

static void print_matches(const struct explanation *found, bool quiet) {
    puts("word\ttranslation\tprobability\tshare");
    for (size_t i = 0; i < found->count; i++) {
        const cog_word_match *match = &found->matches[i];
        printf("%.*s\t%.*s\t%.6f\t%.6f\n", (int)match->from_size, match->from, (int)match->to_size,
               match->to, match->probability, match->share);
    }
    if (!quiet)
        fprintf(stderr, "cosine %.6f\n", found->cosine);
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

static cog_status explain_across(struct session *session, const struct explain_arguments *taken,
                                 cog_documents *const documents[2], struct explanation *found) {
    cog_lexicon *lexicon = NULL;
    cog_links *links = NULL;
    cog_error *error = &session->error;
    uint32_t rows[2];
    cog_status status = cog_lexicon_open(taken->lexicon, &lexicon, error);
    THEN(status, cog_links_prepare(documents[0], documents[1], lexicon, &taken->projection,
                                   &session->run, &links, session->report, error));
    if (status == COG_OK && !find_rows(session->arguments, taken, links, rows))
        status = COG_ERR_USAGE;
    THEN(status, cog_links_explain(links, rows[0], rows[1], &found->matches, &found->count, error));
    if (status == COG_OK) {
        found->cosine = cog_links_cosine(links, rows[0], rows[1]);
        print_matches(found, has_option(session->arguments, OPTION_QUIET));
    }
    cog_links_free(links);
    cog_lexicon_free(lexicon);
    return status;
}

static cog_status explain_within(struct session *session, const struct explain_arguments *taken,
                                 cog_documents *const documents[2], struct explanation *found) {
    cog_status status = cog_pairs_explain(
        documents[0], documents[1], taken->in_collections ? session->arguments->words : NULL,
        &taken->sign, &session->run, &found->matches, &found->count, &found->cosine,
        session->report, &session->error);
    if (status == COG_OK)
        print_matches(found, has_option(session->arguments, OPTION_QUIET));
    return status;
}

static cog_status explain_words(struct session *session, const struct explain_arguments *taken,
                                cog_documents *const documents[2]) {
    struct explanation found = {0};
    cog_status status = taken->lexicon ? explain_across(session, taken, documents, &found)
                                       : explain_within(session, taken, documents, &found);
    session->found_nothing = found.count == 0;
    cog_free(found.matches);
    return status;
}

static cog_status explain_passages(struct session *session, const struct explain_arguments *taken,
                                   cog_documents *const documents[2]) {
    const struct arguments *arguments = session->arguments;
    cog_overlap *overlap = NULL;
    cog_status status = cog_pairs_overlap(
        documents[0], documents[1], taken->in_collections ? arguments->words : NULL, taken->measure,
        &taken->sign.terms, &session->run, &overlap, session->report, &session->error);
    if (status == COG_OK)
        session->found_nothing = cog_overlap_summarize(overlap).similarity == 0;
    if (has_option(arguments, OPTION_FORMAT))
        THEN(status, cog_overlap_write(overlap, output_format(arguments), "-", &session->error));
    else if (status == COG_OK)
        print_overlap(overlap, taken->measure);
    cog_overlap_free(overlap);
    return status;
}

static cog_status run(struct session *session) {
    struct explain_arguments taken;
    if (!take_arguments(session->arguments, &taken))
        return COG_ERR_USAGE;
    cog_documents *documents[2] = {NULL, NULL};
    cog_status status = open_inputs(session->arguments, &taken, documents, &session->error);
    THEN(status, taken.measure == COG_MEASURE_COSINE
                     ? explain_words(session, &taken, documents)
                     : explain_passages(session, &taken, documents));
    cog_documents_close(documents[0]);
    cog_documents_close(documents[1]);
    return status;
}

const struct command command_explain = {
    .name = "explain",
    .synopsis = "A B [--lexicon LEXICON] [--from IN... [--to IN...]] [OPTIONS]",
    .summary = "why two documents match",
    .description =
        "Prints which word of document A matched which word of document B, and its share of the "
        "cosine, largest shares first.\n\n"
        "A and B are ids of documents in the collections --from and --to (or both in --from, "
        "within one language), whose statistics weigh the words. Without collections they are "
        "files of one document each. With a lexicon, A is in its source language, B in its target "
        "language, and the probability is that of the translation. The exit status is 1 if no "
        "word matches.\n\n"
        "With --measure jaccard or containment, prints what dedup compares: both similarities, "
        "the share of each document's word 3-grams that the other one has, the passages that both "
        "have (runs of shared 3-grams, longest first, with their byte ranges), and both texts "
        "with these passages marked, in colour or by [[ ]]. The exit status is 1 if nothing is "
        "shared.",
    .examples = "cognate explain a.txt b.txt\n"
                "cognate explain a.txt b.txt --measure containment\n"
                "cognate explain id7 id9 --from pages.jsonl --measure jaccard --format jsonl\n"
                "cognate explain id7 id9 --from pages.jsonl\n"
                "cognate explain Haus House --lexicon de-en.lex --from de.xml --to en.xml",
    .sets = sets,
    .texts = texts,
    .choices = choices,
    .see = "pairs dedup link lexicon",
    .run = run,
};

#include <stdio.h>
#include <string.h>

#include "command.h"

static const enum option_id own_options[] = {OPTION_AGAINST, OPTION_RADIUS, OPTION_OUTPUT,
                                             OPTION_FORMAT, OPTION_COUNT};
static const option_set sets[] = {own_options,        pair_options,   input_options,
                                  term_options,       weight_options, signature_options,
                                  projection_options, run_options,    NULL};
static const struct option_text texts[] = {
    {OPTION_AGAINST, "compare with these inputs, or with this index"},
    {OPTION_THRESHOLD, "least similarity (default: 0.8; with --lexicon 0.35)"},
    {OPTION_MEASURE, "of weighted terms, or of sets of word 3-grams"},
    {OPTION_RADIUS, "signatures: greatest distance, else by --threshold"},
    {OPTION_SIGNATURE, "kind that methods of signatures use (default: rp; jaccard: minhash)"},
    {OPTION_VALUE_BITS, "minhash: bits kept of each value (default: 1; lsh: 32)"},
    {OPTION_COUNT, NULL}};

/* What speaks of one kind of input only. */
static const enum option_id for_signatures[] = {OPTION_RADIUS, OPTION_COUNT};
static const enum option_id of_documents[] = {OPTION_MEASURE,    OPTION_NO_VERIFY,  OPTION_LINES,
                                              OPTION_TEXT_FIELD, OPTION_LANG_FIELD, OPTION_ID_FIELD,
                                              OPTION_STRICT,     OPTION_COUNT};
static const option_set for_documents[] = {of_documents, term_options, weight_options,
                                           signature_options};

struct pairs_arguments {
    cog_input_options input;
    cog_pairs_options pairs;
    cog_projection_options projection; /* with a lexicon */
    const char *lexicon;
    const char *const *paths[2]; /* of the first collection and, where there is one, the second */
    size_t path_counts[2];
};

/* A side is documents, or one file of signatures; both sides are of a kind, and one may be standard
 * input. */
static bool check_inputs(const struct arguments *arguments, const struct pairs_arguments *taken) {
    size_t signature_files = 0, standard_inputs = 0;
    for (size_t i = 0; i < arguments->word_count; i++) {
        signature_files += cog_is_signature_file(taken->input.format, arguments->words[i]);
        standard_inputs += strcmp(arguments->words[i], "-") == 0;
    }
    if (taken->path_counts[1] == 0 && has_knob(arguments, "shared-window"))
        return usage_error(arguments, "--shared-window needs two collections: give --against");
    if (standard_inputs > 1)
        return usage_error(arguments, "standard input can be read only once");
    if (signature_files == 0)
        return refuse_options(arguments, for_signatures,
                              "compares signatures (.npy); documents compare by --threshold");
    if (signature_files != arguments->word_count)
        return usage_error(arguments, "signatures (.npy) cannot be compared with documents");
    if (taken->path_counts[0] > 1 || taken->path_counts[1] > 1)
        return usage_error(arguments, "one .npy file per side; join files with numpy.concatenate");
    if (has_option(arguments, OPTION_RADIUS) && has_option(arguments, OPTION_THRESHOLD))
        return usage_error(arguments, "give --radius or --threshold, not both");
    static const enum option_id of_windows[] = {OPTION_RECALL, OPTION_COUNT};
    if (taken->pairs.method != COG_METHOD_WINDOW &&
        !refuse_options(arguments, of_windows, "applies to documents; the input is signatures"))
        return false;
    for (size_t i = 0; i < sizeof for_documents / sizeof *for_documents; i++)
        if (!refuse_options(arguments, for_documents[i],
                            "applies to documents; the input is signatures"))
            return false;
    return true;
}

static bool check_lexicon(const struct arguments *arguments, const struct pairs_arguments *taken) {
    if (taken->lexicon && (taken->path_counts[1] == 0 ||
                           cog_is_signature_file(taken->input.format, taken->paths[0][0])))
        return usage_error(arguments, "--lexicon compares documents of two languages: give the "
                                      "target language's with --against");
    return check_lexicon_options(arguments);
}

static bool take_arguments(const struct arguments *arguments, struct pairs_arguments *taken) {
    cog_pairs_options_init(
        &taken->pairs, (cog_measure)choice_option(arguments, OPTION_MEASURE, COG_MEASURE_COSINE));
    if (!take_input_options(arguments, &taken->input) ||
        !take_pairs_options(arguments, &taken->pairs) ||
        !take_projection_options(arguments, &taken->projection))
        return false;
    taken->lexicon = arguments->values[OPTION_LEXICON];
    if (taken->lexicon && !has_option(arguments, OPTION_THRESHOLD))
        taken->pairs.threshold = COG_THRESHOLD_ACROSS;
    taken->paths[0] = arguments->words;
    taken->path_counts[0] = arguments->first_count;
    taken->paths[1] = arguments->words + arguments->first_count;
    taken->path_counts[1] = arguments->word_count - arguments->first_count;
    if (taken->path_counts[0] == 0)
        return usage_error(arguments, "no input; give files, folders, or -");
    return check_inputs(arguments, taken) && check_lexicon(arguments, taken);
}

/* The second collection is documents or an index, or neither. */
struct sides {
    cog_documents *documents[2];
    cog_index *index;
    cog_lexicon *lexicon;
};

static cog_status open_sides(struct session *session, struct pairs_arguments *taken,
                             struct sides *sides) {
    cog_error *error = &session->error;
    cog_status status = cog_documents_open(&taken->input, taken->paths[0], taken->path_counts[0],
                                           &sides->documents[0], error);
    if (status == COG_OK && taken->path_counts[1])
        status = open_reference(session, &taken->input, &taken->pairs.sign.terms,
                                &sides->documents[1], &sides->index);
    if (status == COG_OK && taken->lexicon && sides->index)
        return REFUSE(session->arguments,
                      "a lexicon projects documents, and --against is an index: "
                      "give the documents of the target language");
    if (status == COG_OK && taken->lexicon)
        status = cog_lexicon_open(taken->lexicon, &sides->lexicon, error);
    return status;
}

static cog_status find_in_documents(struct session *session, struct pairs_arguments *taken,
                                    cog_pairs **pairs) {
    struct sides sides = {{NULL, NULL}, NULL, NULL};
    cog_documents **documents = sides.documents;
    cog_error *error = &session->error;
    cog_status status = open_sides(session, taken, &sides);
    if (sides.index)
        THEN(status, cog_pairs_find_in_index(documents[0], sides.index, &taken->pairs,
                                             &session->run, pairs, session->report, error));
    else if (sides.lexicon)
        THEN(status,
             cog_pairs_find_across(documents[0], documents[1], sides.lexicon, &taken->projection,
                                   &taken->pairs, &session->run, pairs, session->report, error));
    else
        THEN(status, cog_pairs_find(documents[0], documents[1], &taken->pairs, &session->run, pairs,
                                    session->report, error));
    cog_lexicon_free(sides.lexicon);
    cog_index_close(sides.index);
    cog_documents_close(documents[0]);
    cog_documents_close(documents[1]);
    return status;
}

static cog_status find_in_signatures(struct session *session, const struct pairs_arguments *taken,
                                     cog_pairs **pairs) {
    cog_signatures *signatures[2] = {NULL, NULL};
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && status == COG_OK; side++)
        if (taken->path_counts[side])
            status = cog_signatures_open(taken->paths[side][0], &signatures[side], &session->error);
    if (status == COG_OK) {
        unsigned bits = cog_signatures_bits(signatures[0]);
        uint64_t radius = cog_radius_of_cosine(taken->pairs.threshold, bits);
        status = COG_ERR_USAGE;
        if (number_option(session->arguments, OPTION_RADIUS, 0, bits, &radius))
            status = cog_pairs_find_signatures(signatures[0], signatures[1], (uint32_t)radius,
                                               &taken->pairs, &session->run, pairs, session->report,
                                               &session->error);
    }
    cog_signatures_free(signatures[0]);
    cog_signatures_free(signatures[1]);
    return status;
}

static cog_status run(struct session *session) {
    struct pairs_arguments taken;
    if (!take_arguments(session->arguments, &taken))
        return COG_ERR_USAGE;
    cog_pairs *pairs = NULL;
    cog_status status = cog_is_signature_file(taken.input.format, taken.paths[0][0])
                            ? find_in_signatures(session, &taken, &pairs)
                            : find_in_documents(session, &taken, &pairs);
    return write_pairs(session, status, pairs);
}

/* The usual reason for finding nothing in a file of lines. */
static void summarize(const struct session *session) {
    const struct arguments *arguments = session->arguments;
    if (arguments->word_count == arguments->first_count &&
        cog_report_number(session->report, "documents") == 1)
        fputs(
            "cognate: only 1 document was read, so there is nothing to compare; if each line of a "
            "text file is a document, give --lines\n",
            stderr);
}

const struct command command_pairs = {
    .name = "pairs",
    .synopsis = "A... [--against B...] [OPTIONS]",
    .summary = "similar pairs inside a collection, or between two",
    .description =
        "Lists all pairs whose similarity is at or above the threshold, with their true "
        "similarity. The default method, exact, misses none.\n\n"
        "Similarity is the cosine of BM25 vectors of stemmed words. With --measure jaccard it is "
        "the Jaccard coefficient of sets of word 3-grams, as in dedup; with --measure "
        "containment, the share of the smaller document's 3-grams that the larger one has.\n\n"
        "With --lexicon (see cognate-lexicon), documents of two languages are compared: those "
        "before --against are projected into the language of those after it.\n\n"
        "--against may name an index (see cognate-index) with the same measure; terms are made as "
        "in the index. Its documents are then the second collection, with the same result as if "
        "they were given as files. Cosines are weighted by the statistics of both collections, not "
        "by those of the "
        "index.\n\n"
        "If the input is a .npy file of signatures, pairs within --radius bits are listed, and "
        "similarities are estimates. Documents and pairs may exceed --memory: they are then "
        "joined from scratch files in TMPDIR. This works for cosine with every method, for "
        "Jaccard and containment with method exact. The exit status is 1 if no pair is found.",
    .examples = "cognate pairs pages.jsonl --threshold 0.9 -o pairs.tsv\n"
                "cognate pairs new/ --against archive/ --measure jaccard\n"
                "cognate pairs signatures.npy --radius 3",
    .sets = sets,
    .texts = texts,
    .methods = "auto|exact|lists|flat|lsh|window",
    .knobs = COG_KNOB_PAIRS,
    .see = "dedup search link explain",
    .run = run,
    .summarize = summarize,
};

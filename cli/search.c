#include <string.h>
#include <sys/stat.h>

#include "command.h"

static const enum option_id own_options[] = {
    OPTION_NEIGHBOURS, OPTION_THRESHOLD,      OPTION_RADIUS,        OPTION_METHOD,
    OPTION_RECALL,     OPTION_MEASURE_RECALL, OPTION_QUERY_MARGINS, OPTION_NO_VERIFY,
    OPTION_FIRST,      OPTION_OUTPUT,         OPTION_FORMAT,        OPTION_COUNT};
enum { RECALL_SAMPLE = 100 };
static const option_set sets[] = {
    own_options,       input_options,      term_options, weight_options,
    signature_options, projection_options, run_options,  NULL};
static const enum option_id usual[] = {OPTION_INPUT_FORMAT, OPTION_COUNT};
static const struct option_text texts[] = {
    {OPTION_THRESHOLD, "all at or above this similarity, not the nearest"},
    {OPTION_RADIUS, "all within this distance, not the nearest"},
    {OPTION_FIRST, "stop at any one match: psm, bphs, and indexes by jaccard or containment"},
    {OPTION_RECALL, "share of neighbours to find (default: 0.95); 1: all"},
    {OPTION_LEXICON, "the queries are in its source language"},
    {OPTION_COUNT, NULL}};

struct search_arguments {
    const struct arguments *given;
    cog_input_options input;
    cog_search_options search;
};

bool take_search_options(const struct arguments *arguments, cog_search_options *options) {
    cog_search_options_init(options);
    uint64_t k = options->k, radius = 0;
    if (!take_knobs(arguments, COG_KNOB_SEARCH, &options->knobs) ||
        !number_option(arguments, OPTION_NEIGHBOURS, 1, UINT32_MAX, &k) ||
        !real_option(arguments, OPTION_THRESHOLD, 0, 1, &options->threshold) ||
        !number_option(arguments, OPTION_RADIUS, 0, 4096, &radius) ||
        !real_option(arguments, OPTION_RECALL, 0, 1, &options->recall))
        return false;
    bool within = has_option(arguments, OPTION_THRESHOLD) || has_option(arguments, OPTION_RADIUS);
    options->k = within && !has_option(arguments, OPTION_NEIGHBOURS) ? 0 : k;
    if (has_option(arguments, OPTION_RADIUS))
        options->radius_bits = (uint32_t)radius;
    options->method = method_option(arguments);
    options->verify = !has_option(arguments, OPTION_NO_VERIFY);
    options->first = has_option(arguments, OPTION_FIRST);
    options->recall_sample = has_option(arguments, OPTION_MEASURE_RECALL) ? RECALL_SAMPLE : 0;
    return true;
}

/* An index folder was built with its own knobs. */
static bool check_built(const struct arguments *arguments) {
    for (int i = 0; i < knob_count(); i++)
        if (knob_at(i)->own->uses & COG_KNOB_BUILD && arguments->values[OPTION_COUNT + i])
            return usage_error(arguments,
                               "--%s belongs to index build; this index is built already",
                               knob_at(i)->own->name);
    return true;
}

static bool take_arguments(const struct arguments *arguments, struct search_arguments *taken) {
    taken->given = arguments;
    if (arguments->word_count == 0)
        return usage_error(arguments, "no index; give an index, a .npy file, or documents");
    return (!cog_index_exists(arguments->words[0]) || check_built(arguments)) &&
           take_input_options(arguments, &taken->input) &&
           take_search_options(arguments, &taken->search);
}

/* ---- What is searched ------------------------------------------------------------------------ */

/* The index, and the signatures that one in memory lives on. */
struct searched {
    cog_index *index;
    cog_signatures *signatures;
};

static bool takes_sign_options(const struct arguments *arguments) {
    const option_set signing[] = {term_options, weight_options, signature_options};
    for (size_t set = 0; set < 3; set++)
        for (option_set id = signing[set]; *id != OPTION_COUNT; id++)
            if (has_option(arguments, *id))
                return true;
    return false;
}

cog_status expect_sign_options(const struct arguments *arguments, const cog_index *index,
                               cog_error *error) {
    cog_sign_options sign;
    if (!takes_sign_options(arguments))
        return COG_OK;
    if (!cog_index_sign_options(index, &sign))
        return cog_index_expect(index, &sign, error);
    sign.signature.kind =
        (cog_signature_kind)choice_option(arguments, OPTION_SIGNATURE, (int)sign.signature.kind);
    if (!take_signature_options(arguments, &sign.signature) ||
        !take_term_options(arguments, &sign.terms) ||
        !take_weight_options(arguments, &sign.weights))
        return COG_ERR_USAGE;
    return cog_index_expect(index, &sign, error);
}

static cog_status open_folder(const struct search_arguments *taken, const char *path,
                              struct searched *searched, cog_error *error) {
    cog_status status = cog_index_open(path, &searched->index, error);
    THEN(status, expect_sign_options(taken->given, searched->index, error));
    return status;
}

/* Sets of terms have no weights; signatures can replace them. */
static bool take_set_options(const struct arguments *arguments, cog_index_options *options) {
    cog_signature_options *signature = &options->sign.signature;
    if (!refuse_weights(arguments) || !take_knobs(arguments, COG_KNOB_BUILD, &options->knobs) ||
        !take_term_options(arguments, &options->sign.terms))
        return false;
    options->vectors = !has_option(arguments, OPTION_NO_VECTORS);
    if (options->vectors)
        return refuse_options(arguments, signature_options,
                              "applies to signatures, which indexes of sets do not have; give "
                              "--no-vectors for signatures alone, or --measure cosine");
    signature->kind =
        (cog_signature_kind)choice_option(arguments, OPTION_SIGNATURE, (int)signature->kind);
    return take_signature_options(arguments, signature);
}

bool take_index_options(const struct arguments *arguments, cog_index_options *options) {
    const cog_measure measure =
        (cog_measure)choice_option(arguments, OPTION_MEASURE, COG_MEASURE_COSINE);
    cog_index_options_init_for(options, measure);
    if (measure != COG_MEASURE_COSINE)
        return take_set_options(arguments, options);
    int kind = choice_option(arguments, OPTION_SIGNATURE, COG_SIGNATURE_RP);
    if (kind != COG_SIGNATURE_RP)
        cog_sign_options_init(&options->sign, (cog_signature_kind)kind);
    options->vectors = !has_option(arguments, OPTION_NO_VECTORS);
    return take_knobs(arguments, COG_KNOB_BUILD, &options->knobs) &&
           take_signature_options(arguments, &options->sign.signature) &&
           take_term_options(arguments, &options->sign.terms) &&
           take_weight_options(arguments, &options->sign.weights);
}

/* A file of signatures or of documents, indexed for this run. */
static cog_status index_file(struct session *session, const struct search_arguments *taken,
                             const char *path, struct searched *searched) {
    cog_error *error = &session->error;
    cog_index_options options;
    if (!take_index_options(taken->given, &options))
        return COG_ERR_USAGE;
    options.method =
        taken->search.method == COG_METHOD_SLICES || taken->search.method == COG_METHOD_COLUMNS ||
                taken->search.method == COG_METHOD_PSM || taken->search.method == COG_METHOD_BPHS
            ? taken->search.method
            : COG_METHOD_FLAT;
    options.unmeasured = taken->search.method == COG_METHOD_AUTO ||
                         taken->search.method == COG_METHOD_EXACT || taken->search.recall >= 1;
    options.streamed = options.method == COG_METHOD_PSM || options.method == COG_METHOD_BPHS;
    if (taken->search.radius_bits != COG_RADIUS_NONE)
        options.radius_bits = taken->search.radius_bits;
    if (cog_is_signature_file(taken->input.format, path)) {
        cog_status status = cog_signatures_open(path, &searched->signatures, error);
        return status == COG_OK
                   ? cog_index_build_signatures(searched->signatures, &options, &session->run,
                                                &searched->index, session->report, error)
                   : status;
    }
    cog_documents *documents = NULL;
    cog_status status = cog_documents_open(&taken->input, &path, 1, &documents, error);
    THEN(status, cog_index_build(documents, &options, &session->run, &searched->index,
                                 session->report, error));
    cog_documents_close(documents);
    return status;
}

/* ---- Searching ------------------------------------------------------------------------------- */

static cog_status search_signatures(struct session *session, const struct search_arguments *taken,
                                    const cog_index *index, const char *path, cog_hits **hits) {
    cog_signatures *queries = NULL;
    cog_weights *weights = NULL;
    cog_error *error = &session->error;
    const float *values = NULL;
    if (!refuse_lexicon(taken->given))
        return COG_ERR_USAGE;
    cog_status status = cog_signatures_open(path, &queries, error);
    THEN(status, open_margins(session, queries, &weights, &values));
    THEN(status, cog_index_search_signatures(index, queries, values, &taken->search, &session->run,
                                             hits, session->report, error));
    cog_weights_free(weights);
    cog_signatures_free(queries);
    return status;
}

struct queries {
    cog_documents *documents;
    cog_lexicon *lexicon; /* NULL: they are in the language of the index */
};

static cog_status open_queries(struct session *session, const cog_input_options *input,
                               const char *const *paths, size_t count, struct queries *queries) {
    static const char *const standard_input[] = {"-"};
    cog_status status = cog_documents_open(input, count ? paths : standard_input, count ? count : 1,
                                           &queries->documents, &session->error);
    THEN(status, project_documents(session, queries->documents, &queries->lexicon));
    return status;
}

static void close_queries(struct queries *queries) {
    cog_documents_close(queries->documents);
    cog_lexicon_free(queries->lexicon);
}

static cog_status search_documents(struct session *session, const struct search_arguments *taken,
                                   const cog_index *index, const char *const *paths, size_t count,
                                   cog_hits **hits) {
    struct queries queries = {0};
    if (!refuse_margins(taken->given))
        return COG_ERR_USAGE;
    cog_status status = open_queries(session, &taken->input, paths, count, &queries);
    THEN(status, cog_index_search(index, queries.documents, &taken->search, &session->run, hits,
                                  session->report, &session->error));
    close_queries(&queries);
    return status;
}

static cog_status search(struct session *session, const struct search_arguments *taken,
                         struct searched *searched, cog_hits **hits) {
    const char *path = taken->given->words[0];
    const char *const *queries = taken->given->words + 1;
    size_t query_count = taken->given->word_count - 1;
    cog_status status = cog_index_exists(path) ? open_folder(taken, path, searched, &session->error)
                                               : index_file(session, taken, path, searched);
    if (status != COG_OK)
        return status;
    return query_count == 1 && cog_is_signature_file(taken->input.format, queries[0])
               ? search_signatures(session, taken, searched->index, queries[0], hits)
               : search_documents(session, taken, searched->index, queries, query_count, hits);
}

/* Whether queries come line by line, so that each is answered at once. */
static bool is_stream(const struct arguments *arguments, const struct search_arguments *taken) {
    const cog_input_options *input = &taken->input;
    return arguments->word_count == 2 && strcmp(arguments->words[1], "-") == 0 &&
           cog_index_exists(arguments->words[0]) && output_format(arguments) != COG_OUTPUT_NPY &&
           (input->format == COG_FORMAT_JSONL || input->lines ||
            (input->format == COG_FORMAT_AUTO && !has_option(arguments, OPTION_INPUT_FORMAT)));
}

static cog_status answer(struct session *session, struct search_arguments *taken) {
    static const enum option_id of_many[] = {OPTION_MEASURE_RECALL, OPTION_COUNT};
    if (taken->input.lines)
        taken->input.format = COG_FORMAT_TXT;
    struct searched searched = {0};
    struct queries queries = {0};
    cog_error *error = &session->error;
    if (!refuse_margins(taken->given) ||
        !refuse_options(taken->given, of_many,
                        "needs all queries at once, and - is answered line by line: name a file"))
        return COG_ERR_USAGE;
    cog_status status = open_folder(taken, taken->given->words[0], &searched, error);
    THEN(status, open_queries(session, &taken->input, NULL, 0, &queries));
    THEN(status, cog_index_answer(searched.index, queries.documents, &taken->search, &session->run,
                                  output_format(session->arguments),
                                  output_path(session->arguments), session->report, error));
    session->found_nothing = status == COG_OK && cog_report_number(session->report, "matches") == 0;
    close_queries(&queries);
    cog_index_close(searched.index);
    return status;
}

static cog_status run(struct session *session) {
    struct search_arguments taken;
    if (!take_arguments(session->arguments, &taken))
        return COG_ERR_USAGE;
    if (is_stream(session->arguments, &taken))
        return answer(session, &taken);
    cog_hits *hits = NULL;
    struct searched searched = {0};
    cog_status status = search(session, &taken, &searched, &hits);
    THEN(status, cog_hits_write(hits, output_format(session->arguments),
                                output_path(session->arguments), &session->error));
    session->found_nothing = status == COG_OK && cog_hits_count(hits) == 0;
    cog_hits_free(hits);
    cog_index_close(searched.index);
    cog_signatures_free(searched.signatures);
    return status;
}

const struct command command_search = {
    .name = "search",
    .synopsis = "INDEX [QUERIES...] [OPTIONS]",
    .summary = "nearest neighbours of queries, or all within a threshold or radius",
    .description =
        "Lists the -k nearest rows of each query, or all rows within --threshold or --radius "
        "(with -k as well: the nearest k of them).\n\n"
        "INDEX is a folder made by cognate index build, a .npy file of signatures, or a file or "
        "folder of documents, which is indexed in memory for this run. Queries are documents in "
        "any input format, or a .npy file of signatures; without them, standard input is read. If "
        "- is the only query and INDEX a folder, each line is answered as it arrives; with "
        "--format jsonl every query then gets one line of answer, even without hits.\n\n"
        "Similarities are true cosines of BM25 vectors with the index's idf, or Jaccard "
        "coefficients or containments if the index was built with that --measure; these searches "
        "are exact, and --first stops at any one match at --threshold. Without vectors, or with "
        "--no-verify, similarities are estimates from signatures, and the header of the result "
        "says so. The exit status is 1 if nothing is found.\n\n"
        "With --lexicon, queries in its source language search an index in its target language. "
        "Queries in the language of the index need no lexicon; they may be mixed with the others "
        "if they name their language.",
    .examples = "cognate search pages.index queries.jsonl -k 5\n"
                "echo 'a text to look for' | cognate search pages.index - --lines\n"
                "cognate search en.index fragen.jsonl --lexicon de-en.lex -k 1",
    .sets = sets,
    .usual = usual,
    .texts = texts,
    .methods = "auto|exact|flat|slices|columns|psm|bphs",
    .knobs = COG_KNOB_BUILD | COG_KNOB_SEARCH,
    .see = "index sign pairs link lexicon",
    .run = run,
};

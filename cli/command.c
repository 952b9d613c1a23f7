#include "command.h"

#include <string.h>

const enum option_id input_options[] = {OPTION_INPUT_FORMAT, OPTION_LINES,      OPTION_TEXT_FIELD,
                                        OPTION_ID_FIELD,     OPTION_LANG_FIELD, OPTION_DELIMITER,
                                        OPTION_NO_HEADER,    OPTION_STRICT,     OPTION_COUNT};
const enum option_id term_options[] = {OPTION_TOKENS, OPTION_NGRAM,      OPTION_LANG,
                                       OPTION_STEM,   OPTION_STOP_WORDS, OPTION_COUNT};
const enum option_id weight_options[] = {OPTION_WEIGHTING, OPTION_K1, OPTION_B,
                                         OPTION_MIN_FREQUENCY, OPTION_COUNT};
const enum option_id signature_options[] = {OPTION_SIGNATURE, OPTION_BITS,    OPTION_SEED,
                                            OPTION_GAUSSIAN,  OPTION_DENSITY, OPTION_VALUE_BITS,
                                            OPTION_COUNT};
const enum option_id pair_options[] = {OPTION_MEASURE, OPTION_THRESHOLD, OPTION_METHOD,
                                       OPTION_RECALL,  OPTION_NO_VERIFY, OPTION_COUNT};
const enum option_id projection_options[] = {OPTION_LEXICON, OPTION_PROBABILITY, OPTION_UNKNOWN,
                                             OPTION_LINKERS, OPTION_COUNT};
const enum option_id run_options[] = {OPTION_THREADS, OPTION_MEMORY, OPTION_STATS,
                                      OPTION_QUIET,   OPTION_HELP,   OPTION_HELP_ALL,
                                      OPTION_VERSION, OPTION_COUNT};

const enum option_id margin_options[] = {OPTION_QUERY_MARGINS, OPTION_COUNT};

bool refuse_weights(const struct arguments *arguments) {
    return refuse_options(arguments, weight_options,
                          "weights terms, which Jaccard and containment do not; use --measure "
                          "cosine");
}

bool refuse_lexicon(const struct arguments *arguments) {
    return refuse_options(arguments, projection_options,
                          "goes with documents; signatures have no language");
}

bool refuse_margins(const struct arguments *arguments) {
    return refuse_options(arguments, margin_options,
                          "goes with signatures (.npy); those of documents are computed");
}

/* One character, or \t. */
static bool take_delimiter(const struct arguments *arguments, char *delimiter) {
    const char *text = arguments->values[OPTION_DELIMITER];
    if (!text)
        return true;
    bool is_tab = strcmp(text, "\\t") == 0;
    if (!is_tab && strlen(text) != 1)
        return usage_error(arguments,
                           "--delimiter \"%s\": give one ASCII character, or \\t for a tab", text);
    *delimiter = is_tab ? '\t' : *text;
    return true;
}

bool take_input_options(const struct arguments *arguments, cog_input_options *options) {
    cog_input_options_init(options);
    options->format = (cog_format)choice_option(arguments, OPTION_INPUT_FORMAT, COG_FORMAT_AUTO);
    options->lines = has_option(arguments, OPTION_LINES);
    options->strict = has_option(arguments, OPTION_STRICT);
    options->read_once =
        !has_option(arguments, OPTION_SENTENCES) && !has_option(arguments, OPTION_SAVE_STATISTICS);
    if (has_option(arguments, OPTION_TEXT_FIELD))
        options->text_field = arguments->values[OPTION_TEXT_FIELD];
    if (has_option(arguments, OPTION_ID_FIELD))
        options->id_field = arguments->values[OPTION_ID_FIELD];
    if (has_option(arguments, OPTION_LANG_FIELD))
        options->lang_field = arguments->values[OPTION_LANG_FIELD];
    options->no_header = has_option(arguments, OPTION_NO_HEADER);
    return take_delimiter(arguments, &options->delimiter);
}

bool take_term_options(const struct arguments *arguments, cog_term_options *options) {
    const cog_tokens before = options->tokens;
    options->tokens = (cog_tokens)choice_option(arguments, OPTION_TOKENS, (int)before);
    if (options->tokens == COG_TOKENS_CODE && before != COG_TOKENS_CODE)
        options->ngram = COG_CODE_NGRAM;
    if (!unsigned_option(arguments, OPTION_NGRAM, 1, 32, &options->ngram))
        return false;
    options->stem = choice_option(arguments, OPTION_STEM, !options->stem) == 0;
    options->drop_stop_words =
        choice_option(arguments, OPTION_STOP_WORDS, !options->drop_stop_words) == 0;
    const char *lang = arguments->values[OPTION_LANG];
    if (lang)
        options->lang = strcmp(lang, "none") == 0 ? "" : lang;
    return true;
}

bool take_weight_options(const struct arguments *arguments, cog_weight_options *options) {
    int scheme = choice_option(arguments, OPTION_WEIGHTING, (int)options->scheme);
    if (scheme != (int)options->scheme)
        cog_weight_options_init(options, (cog_weighting)scheme);
    return real_option(arguments, OPTION_K1, 0, 1000, &options->k1) &&
           real_option(arguments, OPTION_B, 0, 1, &options->b) &&
           unsigned_option(arguments, OPTION_MIN_FREQUENCY, 0, UINT32_MAX,
                           &options->min_collection_frequency);
}

/* What speaks of one kind of signature only. */
static bool check_kind_options(const struct arguments *arguments, cog_signature_kind kind) {
    static const struct {
        cog_signature_kind kind;
        enum option_id own[2];
        const char *why;
    } rows[] = {
        {COG_SIGNATURE_RP, {OPTION_GAUSSIAN, OPTION_COUNT}, "belongs to --signature rp"},
        {COG_SIGNATURE_TOPSIG, {OPTION_DENSITY, OPTION_COUNT}, "belongs to --signature topsig"},
        {COG_SIGNATURE_MINHASH,
         {OPTION_VALUE_BITS, OPTION_COUNT},
         "belongs to --signature minhash"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind != kind && !refuse_options(arguments, rows[i].own, rows[i].why))
            return false;
    return true;
}

bool take_signature_options(const struct arguments *arguments, cog_signature_options *options) {
    options->gaussian = options->gaussian || has_option(arguments, OPTION_GAUSSIAN);
    return unsigned_option(arguments, OPTION_BITS, 8, 4096, &options->bits) &&
           number_option(arguments, OPTION_SEED, 0, UINT64_MAX, &options->seed) &&
           unsigned_option(arguments, OPTION_VALUE_BITS, 1, 32, &options->value_bits) &&
           real_option(arguments, OPTION_DENSITY, 0, 0.5, &options->density) &&
           check_kind_options(arguments, options->kind);
}

static bool take_signing(const struct arguments *arguments, cog_sign_options *options) {
    return take_signature_options(arguments, &options->signature) &&
           take_term_options(arguments, &options->terms) &&
           take_weight_options(arguments, &options->weights);
}

bool take_sign_options(const struct arguments *arguments, cog_signature_kind otherwise,
                       cog_sign_options *options) {
    int kind = choice_option(arguments, OPTION_SIGNATURE, (int)otherwise);
    cog_sign_options_init(options, (cog_signature_kind)kind);
    return take_signing(arguments, options);
}

/* Hash tables over minhash signatures are bands of whole values, 128 of them as others have it,
 * unless what is given is about single bits. */
static bool choose_values(const struct arguments *arguments, cog_signature_options *signature) {
    enum { VALUES = 128 };
    bool of_bits = has_knob(arguments, "key-bits") || has_knob(arguments, "flips") ||
                   has_knob(arguments, "flip-mode") || has_knob(arguments, "flip-side");
    signature->value_bits = of_bits ? 1 : 32;
    if (!unsigned_option(arguments, OPTION_VALUE_BITS, 1, 32, &signature->value_bits))
        return false;
    if (signature->value_bits == 1)
        return true;
    signature->bits = signature->value_bits * VALUES;
    return !has_knob(arguments, "flip-mode") ||
           usage_error(arguments, "--flip-mode needs single bits: give --value-bits 1, or leave "
                                  "it out");
}

bool take_pairs_options(const struct arguments *arguments, cog_pairs_options *options) {
    int kind = choice_option(arguments, OPTION_SIGNATURE, (int)options->sign.signature.kind);
    if (kind != (int)options->sign.signature.kind)
        cog_signature_options_init(&options->sign.signature, (cog_signature_kind)kind);
    options->method = method_option(arguments);
    if (options->method == COG_METHOD_LSH &&
        options->sign.signature.kind == COG_SIGNATURE_MINHASH &&
        !choose_values(arguments, &options->sign.signature))
        return false;
    options->verify = !has_option(arguments, OPTION_NO_VERIFY);
    if (options->measure != COG_MEASURE_COSINE && !refuse_weights(arguments))
        return false;
    return take_knobs(arguments, COG_KNOB_PAIRS, &options->knobs) &&
           real_option(arguments, OPTION_RECALL, 0, 1, &options->recall) &&
           take_signing(arguments, &options->sign) &&
           real_option(arguments, OPTION_THRESHOLD, 0, 1, &options->threshold);
}

bool take_projection_options(const struct arguments *arguments, cog_projection_options *options) {
    cog_projection_options_init(options);
    options->source_given_target = choice_option(arguments, OPTION_PROBABILITY, 0) == 1;
    options->keep_unknown = choice_option(arguments, OPTION_UNKNOWN, 0) == 0;
    if (has_option(arguments, OPTION_LINKERS))
        options->linkers = arguments->values[OPTION_LINKERS];
    return real_option(arguments, OPTION_K1, 0, 1000, &options->k1) &&
           real_option(arguments, OPTION_B, 0, 1, &options->b);
}

static bool check_projection_options(const struct arguments *arguments) {
    if (has_option(arguments, OPTION_LEXICON))
        return true;
    if (has_option(arguments, OPTION_PROBABILITY) || has_option(arguments, OPTION_UNKNOWN) ||
        has_option(arguments, OPTION_LINKERS))
        return usage_error(arguments, "--probability, --unknown and --linkers need a --lexicon");
    return true;
}

cog_status project_documents(struct session *session, cog_documents *documents,
                             cog_lexicon **lexicon) {
    cog_projection_options projection;
    const char *path = session->arguments->values[OPTION_LEXICON];
    if (!path)
        return check_projection_options(session->arguments) ? COG_OK : COG_ERR_USAGE;
    if (!take_projection_options(session->arguments, &projection))
        return COG_ERR_USAGE;
    cog_status status = cog_lexicon_open(path, lexicon, &session->error);
    THEN(status, cog_documents_project(documents, *lexicon, &projection, &session->error));
    return status;
}

cog_status open_margins(struct session *session, const cog_signatures *signatures,
                        cog_weights **margins, const float **values) {
    const char *path = session->arguments->values[OPTION_QUERY_MARGINS];
    if (!path)
        return COG_OK;
    cog_status status = cog_weights_open(path, margins, &session->error);
    THEN(status, cog_weights_of(*margins, signatures, values, &session->error));
    return status;
}

/* With a lexicon, terms are its own, and those of two languages; without one, its knobs would do
 * nothing. */
bool check_lexicon_options(const struct arguments *arguments) {
    static const enum option_id others[] = {
        OPTION_TOKENS,     OPTION_NGRAM,     OPTION_LANG,          OPTION_STEM,
        OPTION_STOP_WORDS, OPTION_WEIGHTING, OPTION_MIN_FREQUENCY, OPTION_COUNT};
    if (has_option(arguments, OPTION_LEXICON))
        return refuse_options(arguments, others,
                              "conflicts with --lexicon: the lexicon defines the terms");
    return check_projection_options(arguments);
}

const char *output_path(const struct arguments *arguments) {
    const char *path = arguments->values[OPTION_OUTPUT];
    return path ? path : "-";
}

cog_output_format output_format(const struct arguments *arguments) {
    return (cog_output_format)choice_option(arguments, OPTION_FORMAT, COG_OUTPUT_TSV);
}

cog_status write_pairs(struct session *session, cog_status status, cog_pairs *pairs) {
    THEN(status, cog_pairs_write(pairs, output_format(session->arguments),
                                 output_path(session->arguments), &session->error));
    session->found_nothing = status == COG_OK && cog_pairs_count(pairs) == 0;
    cog_pairs_free(pairs);
    return status;
}

void print_count(double count, const char *noun, FILE *stream) {
    fprintf(stream, "%.0f %s%s", count, noun, count == 1 ? "" : "s");
}

void print_skipped(double skipped, const char *noun) {
    if (skipped > 0) {
        fputs("; ", stderr);
        print_count(skipped, noun, stderr);
        fputs(skipped == 1 ? " was skipped" : " were skipped", stderr);
    }
}

/* Terms are made as in the index, unless an option says otherwise, which the index then refuses. */
static cog_status open_index(struct session *session, const char *path, cog_term_options *terms,
                             cog_index **index) {
    cog_sign_options sign;
    const cog_status status = cog_index_open(path, index, &session->error);
    if (status != COG_OK || !cog_index_sign_options(*index, &sign))
        return status;
    *terms = sign.terms;
    return take_term_options(session->arguments, terms) ? COG_OK : COG_ERR_USAGE;
}

cog_status open_reference(struct session *session, const cog_input_options *input,
                          cog_term_options *terms, cog_documents **documents, cog_index **index) {
    const struct arguments *arguments = session->arguments;
    const char *const *words = arguments->words + arguments->first_count;
    const size_t count = arguments->word_count - arguments->first_count;
    for (size_t i = 0; i < count; i++)
        if (count > 1 && cog_index_exists(words[i]))
            return REFUSE(arguments, "--against %s: give an index by itself, without other inputs",
                          words[i]);
    return count == 1 && cog_index_exists(words[0])
               ? open_index(session, words[0], terms, index)
               : cog_documents_open(input, words, count, documents, &session->error);
}

#include "collection/options.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"

/* The public enumerations have the order of the internal ones. */
_Static_assert((int)COG_TOKENS_CODE == (int)TOKENS_CODE, "tokens");
_Static_assert((int)COG_WEIGHTING_BINARY == (int)WEIGHTING_BINARY, "weightings");
_Static_assert((int)COG_SIGNATURE_MINHASH == (int)SIGNATURE_MINHASH, "signatures");
_Static_assert((int)COG_FORMAT_NPY == (int)INPUT_NPY, "formats");

static const char *const token_names[] = {"words", "regex", "chars", "code"};
static const char *const weighting_names[] = {"bm25", "tfidf", "tf", "binary"};
static const char *const signature_names[] = {"rp", "simhash", "topsig", "minhash"};

cog_status options_check_reserved(const uint64_t *words, size_t count, const char *name,
                                  cog_error *error) {
    for (size_t i = 0; i < count; i++)
        if (words[i])
            return error_set(error, COG_ERR_USAGE,
                             "cog_%s_options has an option that this version of the library (%s) "
                             "does not support: initialise the options with their init function, "
                             "or use a newer library",
                             name, COG_VERSION);
    return COG_OK;
}

void cog_term_options_init(cog_term_options *options) {
    *options = (cog_term_options){.tokens = COG_TOKENS_WORDS,
                                  .ngram = 1,
                                  .stem = true,
                                  .drop_stop_words = true,
                                  .lang = "auto"};
}

void cog_weight_options_init(cog_weight_options *options, cog_weighting scheme) {
    struct weighting weighting;
    weighting_init(&weighting, (enum weighting_scheme)scheme);
    *options = (cog_weight_options){.scheme = scheme,
                                    .k1 = weighting.k1,
                                    .b = weighting.b,
                                    .min_collection_frequency = weighting.min_collection_frequency};
}

void cog_signature_options_init(cog_signature_options *options, cog_signature_kind kind) {
    struct signature_options usual;
    signature_options_init(&usual, (enum signature_kind)kind);
    *options = (cog_signature_options){.kind = kind,
                                       .bits = usual.bits,
                                       .seed = usual.seed,
                                       .gaussian = usual.gaussian,
                                       .density = usual.density,
                                       .value_bits = usual.value_bits};
}

void cog_sign_options_init(cog_sign_options *options, cog_signature_kind kind) {
    cog_signature_options_init(&options->signature, kind);
    cog_term_options_init(&options->terms);
    cog_weighting scheme = kind == COG_SIGNATURE_MINHASH   ? COG_WEIGHTING_BINARY
                           : kind == COG_SIGNATURE_SIMHASH ? COG_WEIGHTING_TF
                                                           : COG_WEIGHTING_BM25;
    cog_weight_options_init(&options->weights, scheme);
    if (kind == COG_SIGNATURE_SIMHASH || kind == COG_SIGNATURE_MINHASH)
        options->terms.stem = options->terms.drop_stop_words = false;
    if (kind == COG_SIGNATURE_MINHASH)
        options->terms.ngram = 3;
}

cog_status options_terms(const cog_term_options *options, struct term_options *terms,
                         cog_error *error) {
    const char *lang = options->lang ? options->lang : "";
    TRY(options_check_reserved(options->reserved, 4, "term", error));
    TRY(check_enum(options->tokens, COG_TOKENS_CODE + 1, "tokens", error));
    if (options->ngram < 1 || options->ngram > TERM_NGRAM_MAX)
        return error_set(error, COG_ERR_USAGE, "n-grams of %u tokens: choose from 1 to %d",
                         options->ngram, TERM_NGRAM_MAX);
    bool is_code = *lang && strcmp(lang, "auto") != 0;
    if (strlen(lang) >= LANGUAGE_CODE_BYTES || (is_code && !language_is_known(lang)))
        return error_set(error, COG_ERR_USAGE,
                         "language '%s': use a code of ISO 639 such as en, or auto, or none", lang);
    term_options_init(terms);
    terms->tokens = (enum token_kind)options->tokens;
    terms->ngram = options->ngram;
    terms->stem = options->stem;
    terms->drop_stop_words = options->drop_stop_words;
    terms->elide = options->stem || options->drop_stop_words;
    strcpy(terms->language, lang);
    return COG_OK;
}

cog_status options_set_terms(const cog_term_options *options, cog_measure measure,
                             struct term_options *terms, cog_error *error) {
    TRY(options_terms(options, terms, error));
    terms->short_texts = measure == COG_MEASURE_JACCARD && terms->tokens != TOKENS_CHARS;
    return COG_OK;
}

cog_status options_weighting(const cog_weight_options *options, struct weighting *weighting,
                             cog_error *error) {
    TRY(options_check_reserved(options->reserved, 4, "weight", error));
    TRY(check_enum(options->scheme, COG_WEIGHTING_BINARY + 1, "weighting", error));
    if (!(options->k1 >= 0 && isfinite(options->k1)))
        return error_set(error, COG_ERR_USAGE, "BM25 k1 of %g: choose 0 or more", options->k1);
    if (!(options->b >= 0 && options->b <= 1))
        return error_set(error, COG_ERR_USAGE, "BM25 b of %g: choose from 0 to 1", options->b);
    weighting_init(weighting, (enum weighting_scheme)options->scheme);
    weighting->k1 = options->k1;
    weighting->b = options->b;
    weighting->min_collection_frequency = options->min_collection_frequency;
    return COG_OK;
}

cog_status options_signature(const cog_signature_options *options,
                             struct signature_options *signature, cog_error *error) {
    TRY(options_check_reserved(options->reserved, 4, "signature", error));
    TRY(check_enum(options->kind, COG_SIGNATURE_MINHASH + 1, "kind of signature", error));
    *signature = (struct signature_options){.kind = (enum signature_kind)options->kind,
                                            .bits = options->bits,
                                            .seed = options->seed,
                                            .gaussian = options->gaussian,
                                            .density = options->density,
                                            .value_bits = options->value_bits};
    return signature_options_check(signature, error);
}

cog_status options_check_signing(const cog_sign_options *options, cog_error *error) {
    struct term_options terms;
    struct weighting weighting;
    struct signature_options signature;
    TRY(options_terms(&options->terms, &terms, error));
    TRY(options_weighting(&options->weights, &weighting, error));
    return options_signature(&options->signature, &signature, error);
}

/* Sorts after the settings of terms: if those differ, they are the difference to report. */
static const char versions_key[] = "versions of text libraries";

static cog_status record_terms(const cog_term_options *options, struct settings *settings,
                               cog_error *error) {
    struct term_options checked;
    cog_status status = options_terms(options, &checked, error);
    THEN(status, settings_set_text(settings, "tokens", token_names[options->tokens], error));
    THEN(status, settings_set_u64(settings, "ngram", options->ngram, error));
    THEN(status, settings_set_u64(settings, "stem", options->stem, error));
    THEN(status, settings_set_u64(settings, "drop stop words", options->drop_stop_words, error));
    THEN(status,
         settings_set_text(settings, "language", options->lang ? options->lang : "", error));
    return status;
}

static cog_status record_versions(const cog_term_options *options, struct settings *settings,
                                  cog_error *error) {
    struct term_options terms;
    char versions[TEXT_VERSIONS_BYTES];
    TRY(options_terms(options, &terms, error));
    text_versions(&terms, versions);
    return settings_set_text(settings, versions_key, versions, error);
}

cog_status options_record_terms(const cog_term_options *options, struct settings *settings,
                                cog_error *error) {
    TRY(record_terms(options, settings, error));
    return record_versions(options, settings, error);
}

cog_status options_check_versions(const struct settings *settings, const struct term_options *terms,
                                  const char *what, cog_error *error) {
    const char *recorded;
    char versions[TEXT_VERSIONS_BYTES];
    if (!settings_get_text(settings, versions_key, &recorded))
        return COG_OK;
    text_versions(terms, versions);
    return strcmp(recorded, versions) == 0
               ? COG_OK
               : error_set(error, COG_ERR_FORMAT,
                           "%s was made with other text libraries (%s) than this program has (%s), "
                           "which may split or stem words differently: make it again",
                           what, recorded, versions);
}

static cog_status record_weights(const cog_weight_options *options, struct settings *settings,
                                 cog_error *error) {
    cog_status status =
        settings_set_text(settings, "weighting", weighting_names[options->scheme], error);
    if (status == COG_OK && options->scheme == COG_WEIGHTING_BM25)
        status = settings_set_double(settings, "k1", options->k1, error);
    if (status == COG_OK && options->scheme == COG_WEIGHTING_BM25)
        status = settings_set_double(settings, "b", options->b, error);
    THEN(status, settings_set_u64(settings, "minimum collection frequency",
                                  options->min_collection_frequency, error));
    return status;
}

cog_status options_record_signing(const cog_sign_options *options, struct settings *settings,
                                  cog_error *error) {
    const cog_signature_options *signature = &options->signature;
    TRY(options_check_signing(options, error));
    cog_status status = options_record_terms(&options->terms, settings, error);
    THEN(status, record_weights(&options->weights, settings, error));
    THEN(status, settings_set_text(settings, "signature", signature_names[signature->kind], error));
    THEN(status, settings_set_u64(settings, "bits", signature->bits, error));
    THEN(status, settings_set_u64(settings, "seed", signature->seed, error));
    if (status == COG_OK && signature->kind == COG_SIGNATURE_RP)
        status = settings_set_u64(settings, "gaussian", signature->gaussian, error);
    if (status == COG_OK && signature->kind == COG_SIGNATURE_TOPSIG)
        status = settings_set_double(settings, "density", signature->density, error);
    if (status == COG_OK && signature->kind == COG_SIGNATURE_MINHASH)
        status = settings_set_u64(settings, "value bits", signature->value_bits, error);
    return status;
}

/* The index of the name stored under a key. */
static bool read_name(const struct settings *settings, const char *key, const char *const *names,
                      int count, int *number) {
    const char *text;
    if (!settings_get_text(settings, key, &text))
        return false;
    for (*number = 0; *number < count; (*number)++)
        if (strcmp(names[*number], text) == 0)
            return true;
    return false;
}

static bool read_number(const struct settings *settings, const char *key, unsigned *number) {
    uint64_t wide;
    if (!settings_get_u64(settings, key, &wide) || wide > UINT32_MAX)
        return false;
    *number = (unsigned)wide;
    return true;
}

static bool read_terms(const struct settings *settings, cog_term_options *options) {
    int tokens;
    unsigned stem, drop;
    if (!read_name(settings, "tokens", token_names, 4, &tokens) ||
        !read_number(settings, "ngram", &options->ngram) || !read_number(settings, "stem", &stem) ||
        !read_number(settings, "drop stop words", &drop) ||
        !settings_get_text(settings, "language", &options->lang))
        return false;
    options->tokens = (cog_tokens)tokens;
    options->stem = stem;
    options->drop_stop_words = drop;
    return true;
}

static bool read_weights(const struct settings *settings, cog_weight_options *options) {
    int scheme;
    if (!read_name(settings, "weighting", weighting_names, 4, &scheme))
        return false;
    cog_weight_options_init(options, (cog_weighting)scheme);
    if (options->scheme == COG_WEIGHTING_BM25 &&
        (!settings_get_double(settings, "k1", &options->k1) ||
         !settings_get_double(settings, "b", &options->b)))
        return false;
    return read_number(settings, "minimum collection frequency",
                       &options->min_collection_frequency);
}

static bool read_signature(const struct settings *settings, cog_signature_options *options) {
    int kind;
    unsigned gaussian = 0;
    if (!read_name(settings, "signature", signature_names, 4, &kind))
        return false;
    cog_signature_options_init(options, (cog_signature_kind)kind);
    bool known = read_number(settings, "bits", &options->bits) &&
                 settings_get_u64(settings, "seed", &options->seed);
    if (known && options->kind == COG_SIGNATURE_RP)
        known = read_number(settings, "gaussian", &gaussian);
    if (known && options->kind == COG_SIGNATURE_TOPSIG)
        known = settings_get_double(settings, "density", &options->density);
    if (known && options->kind == COG_SIGNATURE_MINHASH)
        known = read_number(settings, "value bits", &options->value_bits);
    options->gaussian = gaussian;
    return known;
}

cog_status options_read_signing(const struct settings *settings, cog_sign_options *options,
                                cog_error *error) {
    struct term_options terms;
    *options = (cog_sign_options){0}; /* the reserved words */
    if (!read_terms(settings, &options->terms) || !read_weights(settings, &options->weights) ||
        !read_signature(settings, &options->signature))
        return error_set(error, COG_ERR_FORMAT,
                         "the settings do not record how the documents were signed, or record "
                         "something that this version does not support");
    TRY(options_terms(&options->terms, &terms, error));
    return options_check_versions(settings, &terms, "the index", error);
}

cog_status options_read_terms(const struct settings *settings, cog_term_options *options,
                              cog_error *error) {
    struct term_options terms;
    *options = (cog_term_options){0}; /* the reserved words */
    if (!read_terms(settings, options))
        return error_set(error, COG_ERR_FORMAT,
                         "the settings do not record how the terms of documents were made, or "
                         "record something that this version does not support");
    TRY(options_terms(options, &terms, error));
    return options_check_versions(settings, &terms, "the index", error);
}

cog_status options_check_statistics(const cog_term_options *options,
                                    const struct cog_statistics *statistics, cog_error *error) {
    struct settings wanted = {0};
    char difference[SETTINGS_DIFFERENCE_BYTES];
    const char *versions;
    cog_status status = record_terms(options, &wanted, error);
    if (status == COG_OK && settings_get_text(&statistics->terms, versions_key, &versions))
        status = record_versions(options, &wanted, error);
    if (status == COG_OK && !settings_equal(&wanted, &statistics->terms, difference))
        status =
            error_set(error, COG_ERR_USAGE,
                      "the statistics were made from different terms: %s; collect them again or "
                      "give the same options",
                      difference);
    settings_free(&wanted);
    return status;
}

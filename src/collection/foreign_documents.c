#include "collection/foreign_documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/strings.h"
#include "collection/options.h"

/* ---- Lexicons -------------------------------------------------------------------------------- */

cog_status lexicon_terms(const struct lexicon *lexicon, bool of_from, struct term_options *terms,
                         cog_error *error) {
    cog_term_options options;
    const char *tokens = "words";
    uint64_t ngram = 1, stem = 1, drop = 1;
    cog_term_options_init(&options);
    settings_get_text(&lexicon->settings, "tokens", &tokens);
    settings_get_u64(&lexicon->settings, "ngram", &ngram);
    settings_get_u64(&lexicon->settings, "stem", &stem);
    settings_get_u64(&lexicon->settings, "drop stop words", &drop);
    options.tokens = strcmp(tokens, "words") == 0   ? COG_TOKENS_WORDS
                     : strcmp(tokens, "regex") == 0 ? COG_TOKENS_REGEX
                     : strcmp(tokens, "code") == 0  ? COG_TOKENS_CODE
                                                    : COG_TOKENS_CHARS;
    options.ngram = (unsigned)ngram;
    options.stem = stem;
    options.drop_stop_words = drop;
    if (!settings_get_text(&lexicon->settings, of_from ? "from" : "to", &options.lang))
        return error_set(error, COG_ERR_FORMAT,
                         "the lexicon does not record its languages; make it again");
    TRY(options_terms(&options, terms, error));
    return options_check_versions(&lexicon->settings, terms, "the lexicon", error);
}

static uint64_t add_bytes(uint64_t sum, const void *data, size_t count, size_t item_bytes) {
    return hash_pair(sum, count ? hash_bytes(data, count * item_bytes) : 0);
}

uint64_t lexicon_checksum(const struct lexicon *lexicon) {
    size_t entries = lexicon_entry_count(lexicon), words = lexicon->from.count;
    uint64_t sum = add_bytes(0, lexicon->from.hashes, words, sizeof(uint64_t));
    sum = add_bytes(sum, lexicon->to.hashes, lexicon->to.count, sizeof(uint64_t));
    sum = add_bytes(sum, lexicon->offsets, lexicon->offsets ? words + 1 : 0, sizeof(uint64_t));
    sum = add_bytes(sum, lexicon->targets, entries, sizeof(uint32_t));
    sum = add_bytes(sum, lexicon->to_given_from, entries, sizeof(float));
    return add_bytes(sum, lexicon->from_given_to, entries, sizeof(float));
}

/* ---- Collections with one -------------------------------------------------------------------- */

static cog_status copy_options(struct foreign_documents *foreign,
                               const cog_projection_options *options, cog_error *error) {
    struct projection_options *own = &foreign->options;
    projection_options_init(own);
    own->source_given_target = options->source_given_target;
    own->keep_unknown = options->keep_unknown;
    const char *linkers = options->linkers ? options->linkers : "";
    own->compounds.linkers = strdup(linkers);
    if (!own->compounds.linkers)
        return error_memory(error, strlen(linkers), "linkers");
    if (asprintf(&foreign->fingerprint, "%s %016llx %s %s %s", foreign->to,
                 (unsigned long long)lexicon_checksum(foreign->lexicon),
                 own->source_given_target ? "from-given-to" : "to-given-from",
                 own->keep_unknown ? "keep" : "drop", own->compounds.linkers) < 0) {
        foreign->fingerprint = NULL;
        return error_memory(error, strlen(linkers), "a lexicon's name");
    }
    return COG_OK;
}

cog_status foreign_documents_create(const struct lexicon *lexicon,
                                    const cog_projection_options *options,
                                    struct foreign_documents **result, cog_error *error) {
    struct foreign_documents *foreign;
    TRY(options_check_reserved(options->reserved, 4, "projection", error));
    TAKE_ZEROED(foreign, 1, "a lexicon's documents", error);
    foreign->lexicon = lexicon;
    cog_status status = lexicon_terms(lexicon, true, &foreign->from_terms, error);
    THEN(status, lexicon_terms(lexicon, false, &foreign->to_terms, error));
    if (status == COG_OK) {
        const char *from = foreign->from_terms.language, *to = foreign->to_terms.language;
        language_canonical(view_of_text(from), foreign->from);
        language_canonical(view_of_text(to), foreign->to);
    }
    THEN(status, copy_options(foreign, options, error));
    return HAND_OUT(status, foreign, foreign_documents_free, result);
}

void foreign_documents_free(struct foreign_documents *foreign) {
    if (!foreign)
        return;
    free((void *)foreign->options.compounds.linkers);
    FREE(foreign->fingerprint, foreign);
}

cog_status foreign_projector_init(const struct foreign_documents *foreign,
                                  const struct term_options *terms,
                                  struct document_projector *projector, cog_error *error) {
    const struct term_options *own = &foreign->to_terms;
    struct term_options target = *own;
    char language[LANGUAGE_CODE_BYTES];
    language_canonical(view_of_text(terms->language), language);
    if (terms->tokens != own->tokens || terms->ngram != own->ngram || terms->stem != own->stem)
        return error_about(
            error, COG_ERR_USAGE, "lexicon",
            "the words of the lexicon are made differently from the terms of the "
            "documents (kind of tokens, n-grams or stems): use the same options for both");
    if (strcmp(terms->language, "auto") != 0 && strcmp(language, foreign->to) != 0)
        return error_about(error, COG_ERR_USAGE, "lexicon",
                           "the lexicon translates from %s into %s, and the documents are compared "
                           "by terms of the language '%s': use a lexicon into that language",
                           foreign->from, foreign->to, terms->language);
    target.drop_stop_words = terms->drop_stop_words;
    return document_projector_init(projector, foreign->lexicon, &foreign->options,
                                   &foreign->from_terms, &target, error);
}

cog_status foreign_is_projected(const struct foreign_documents *foreign, struct bytes_view language,
                                struct bytes_view id, bool *is_projected, cog_error *error) {
    char code[LANGUAGE_CODE_BYTES];
    language_canonical(language, code);
    *is_projected = strcmp(code, foreign->to) != 0;
    if (!code[0] || !*is_projected || strcmp(code, foreign->from) == 0)
        return COG_OK;
    return error_about(error, COG_ERR_USAGE, "lexicon",
                       "the document '%.*s' is in the language '%s', and the lexicon translates "
                       "from %s into %s: use a lexicon from %s into %s",
                       (int)(id.size < 200 ? id.size : 200), id.data ? id.data : "", code,
                       foreign->from, foreign->to, code, foreign->to);
}

cog_status foreign_check_signature(const struct foreign_documents *foreign, cog_signature_kind kind,
                                   cog_error *error) {
    if (!foreign || kind != COG_SIGNATURE_MINHASH)
        return COG_OK;
    return error_about(error, COG_ERR_USAGE, "kind",
                       "minhash compares sets of terms, and translations are terms with "
                       "probabilities: choose a signature of weights, such as rp");
}

#include "text/language/language.h"

#include <libstemmer.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uloc.h>

#include "base/hash.h"
#include "text/language/elisions.h"
#include "text/language/language_detect.h"
#include "text/language/stop_words.h"
#include "text/text_scanner.h"

bool language_is_known(const char *code) {
    char canonical[LANGUAGE_CODE_BYTES];
    language_canonical(view_of_text(code), canonical);
    bool is_private = canonical[0] == 'q' && canonical[1] <= 't' && canonical[2]; /* qaa to qtz */
    return is_private || (canonical[0] && uloc_getISO3Language(canonical)[0]);
}

bool language_has_stemmer(const char *code) {
    char canonical[LANGUAGE_CODE_BYTES];
    language_canonical(view_of_text(code), canonical);
    struct sb_stemmer *stemmer = canonical[0] ? sb_stemmer_new(canonical, "UTF_8") : NULL;
    if (stemmer)
        sb_stemmer_delete(stemmer);
    return stemmer != NULL;
}

bool language_has_rules(const char *canonical) {
    return language_has_stemmer(canonical) || stop_words_of(canonical) || elisions_of(canonical);
}

static cog_status fill_stops(struct hash_set *set, const char *words, struct text_scanner *scanner,
                             cog_error *error) {
    struct bytes_view word;
    TRY(hash_set_init(set, 2 * stop_words_count(words), "stop words", error));
    while (stop_words_next(&words, &word)) {
        const struct token_batch *batch;
        text_scanner_start(scanner, word);
        do {
            TRY(text_scanner_next(scanner, &batch, error));
            if (batch && batch->count == 1) /* parts of contractions do not count */
                hash_set_add(set, hash_bytes(batch->bytes.data + batch->spans[0].begin,
                                             batch->spans[0].end - batch->spans[0].begin));
        } while (batch);
    }
    return COG_OK;
}

cog_status language_init(struct language *language, const char *canonical,
                         struct text_scanner *scanner, cog_error *error) {
    *language = (struct language){0};
    strcpy(language->code, canonical);
    language->stemmer = sb_stemmer_new(canonical, "UTF_8");
    language->elisions = elisions_of(canonical);
    const char *words = stop_words_of(canonical);
    return words ? fill_stops(&language->stops, words, scanner, error) : COG_OK;
}

void language_release(struct language *language) {
    if (language->stemmer)
        sb_stemmer_delete(language->stemmer);
    hash_set_free(&language->stops);
}

struct bytes_view language_stem(const struct language *language, struct bytes_view word) {
    /* Some stemmers take quadratic time, and nothing as long as this is a word. */
    enum { STEM_MAX_BYTES = 256 };
    if (!language->stemmer || word.size > STEM_MAX_BYTES)
        return word;
    const sb_symbol *stem =
        sb_stemmer_stem(language->stemmer, (const sb_symbol *)word.data, (int)word.size);
    int size = sb_stemmer_length(language->stemmer);
    if (!stem || size <= 0)
        return word;
    return view_of((const char *)stem, (size_t)size);
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* Of the stems of fixed words, endings of several languages on one stem, in every language. */
static uint32_t stems_hash(void) {
    static const char *const words[] = {"nationalities", "hoping",   "fluently",  "verkaufte",
                                        "hauses",        "chantait", "canciones", "andando"};
    uint64_t hash = 0;
    const char *const *names = sb_stemmer_list();
    for (; *names; names++) {
        struct language language = {.stemmer = sb_stemmer_new(*names, "UTF_8")};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            struct bytes_view stem = language_stem(&language, view_of_text(words[i]));
            hash = hash_pair(hash, hash_bytes(stem.data, stem.size));
        }
        hash = hash_pair(hash, hash_bytes(*names, strlen(*names)));
        sb_stemmer_delete(language.stemmer);
    }
    return (uint32_t)(hash >> 32);
}

void text_versions(const struct term_options *options, char versions[TEXT_VERSIONS_BYTES]) {
    UVersionInfo icu, unicode;
    u_getVersion(icu);
    u_getUnicodeVersion(unicode);
    bool words = options->tokens == TOKENS_WORDS;
    bool stem = words && options->stem, stop = words && options->drop_stop_words;
    bool elide = words && options->elide;
    bool detect = (stem || stop || elide) && strcmp(options->language, "auto") == 0;
    int size = snprintf(versions, TEXT_VERSIONS_BYTES, "icu %u unicode %u.%u", icu[0], unicode[0],
                        unicode[1]);
    if (stem)
        size += snprintf(versions + size, TEXT_VERSIONS_BYTES - (size_t)size, " stemmer %08x",
                         stems_hash());
    if (stop)
        size += snprintf(versions + size, TEXT_VERSIONS_BYTES - (size_t)size, " stop words %08x",
                         stop_words_hash());
    if (elide)
        size += snprintf(versions + size, TEXT_VERSIONS_BYTES - (size_t)size, " elisions %08x",
                         elisions_hash());
    if (detect) /* "unmarked": it sees texts without vowel signs */
        snprintf(versions + size, TEXT_VERSIONS_BYTES - (size_t)size, " detector %.40s unmarked",
                 language_detector_version());
}

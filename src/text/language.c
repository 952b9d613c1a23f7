#include "text/language.h"

#include <libstemmer.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uloc.h>

#include "base/hash.h"
#include "text/language_detect.h"
#include "text/text_scanner.h"

bool language_is_known(const char *code) {
    char canonical[LANGUAGE_CODE_BYTES];
    language_canonical(view_of(code, strlen(code)), canonical);
    bool is_private = canonical[0] == 'q' && canonical[1] <= 't' && canonical[2]; /* qaa to qtz */
    return is_private || (canonical[0] && uloc_getISO3Language(canonical)[0]);
}

static const struct stopword_list *find_stop_words(const char *canonical) {
    for (unsigned i = 0; i < stopword_list_count; i++)
        if (strcmp(stopword_lists[i].language, canonical) == 0)
            return &stopword_lists[i];
    return NULL;
}

bool language_has_stop_words(const char *code) {
    char canonical[LANGUAGE_CODE_BYTES];
    language_canonical(view_of(code, strlen(code)), canonical);
    return find_stop_words(canonical) != NULL;
}

bool language_has_stemmer(const char *code) {
    char canonical[LANGUAGE_CODE_BYTES];
    language_canonical(view_of(code, strlen(code)), canonical);
    struct sb_stemmer *stemmer = canonical[0] ? sb_stemmer_new(canonical, "UTF_8") : NULL;
    if (stemmer)
        sb_stemmer_delete(stemmer);
    return stemmer != NULL;
}

static cog_status fill_stops(struct hash_set *set, const struct stopword_list *list,
                             struct text_scanner *scanner, cog_error *error) {
    TRY(hash_set_init(set, 2u * list->count, "stop words", error));
    for (unsigned i = 0; i < list->count; i++) {
        const struct token_batch *batch;
        text_scanner_start(scanner, view_of(list->words[i], strlen(list->words[i])));
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
    const struct stopword_list *list = find_stop_words(canonical);
    return list ? fill_stops(&language->stops, list, scanner, error) : COG_OK;
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

static uint32_t stop_words_hash(void) {
    uint64_t hash = 0;
    for (unsigned i = 0; i < stopword_list_count; i++)
        for (unsigned j = 0; j < stopword_lists[i].count; j++)
            hash = hash_pair(
                hash, hash_bytes(stopword_lists[i].words[j], strlen(stopword_lists[i].words[j])));
    return (uint32_t)(hash >> 32);
}

/* Of the stems of fixed words, endings of several languages on one stem, in every language. */
static uint32_t stems_hash(void) {
    static const char *const words[] = {"nationalities", "hoping",   "fluently",  "verkaufte",
                                        "hauses",        "chantait", "canciones", "andando"};
    uint64_t hash = 0;
    const char *const *names = sb_stemmer_list();
    for (; *names; names++) {
        struct language language = {.stemmer = sb_stemmer_new(*names, "UTF_8")};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            struct bytes_view stem = language_stem(&language, view_of(words[i], strlen(words[i])));
            hash = hash_pair(hash, hash_bytes(stem.data, stem.size));
        }
        hash = hash_pair(hash, hash_bytes(*names, strlen(*names)));
        language_release(&language);
    }
    return (uint32_t)(hash >> 32);
}

void text_versions(const struct term_options *options, char versions[TEXT_VERSIONS_BYTES]) {
    UVersionInfo icu, unicode;
    u_getVersion(icu);
    u_getUnicodeVersion(unicode);
    bool words = options->tokens == TOKENS_WORDS;
    bool stem = words && options->stem, stop = words && options->drop_stop_words;
    bool detect = (stem || stop) && strcmp(options->language, "auto") == 0;
    int size = snprintf(versions, TEXT_VERSIONS_BYTES, "icu %u unicode %u.%u", icu[0], unicode[0],
                        unicode[1]);
    if (stem)
        size += snprintf(versions + size, TEXT_VERSIONS_BYTES - (size_t)size, " stemmer %08x",
                         stems_hash());
    if (stop)
        size += snprintf(versions + size, TEXT_VERSIONS_BYTES - (size_t)size, " stop words %08x",
                         stop_words_hash());
    if (detect)
        snprintf(versions + size, TEXT_VERSIONS_BYTES - (size_t)size, " detector %.40s",
                 language_detector_version());
}

/* The resources of a language: its Snowball stemmer, its stop words and its elided words. Found by
 * code and owned by the analyzer that uses them. */
#pragma once

#include "base/hash_table.h"
#include "text/analyzer.h"

struct sb_stemmer;

struct language {
    char code[LANGUAGE_CODE_BYTES];
    struct sb_stemmer *stemmer; /* NULL: none */
    struct hash_set stops;      /* hashes of the folded stop words; no slots: none */
    const char *elisions;       /* elisions.h; NULL: none */
    unsigned number;            /* from 1, in the order of first use */
};

struct text_scanner;

/* Whether there is anything for this language. */
bool language_has_rules(const char *canonical);
/* `scanner` folds the stop words in the same way as the words of documents. */
cog_status language_init(struct language *language, const char *canonical,
                         struct text_scanner *scanner, cog_error *error);
void language_release(struct language *language);

/* The stem of a folded word, valid until the next call; the word itself if there is no stemmer.
 */
struct bytes_view language_stem(const struct language *language, struct bytes_view word);

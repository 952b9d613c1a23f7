/* From text to terms: NFKC case folding, Unicode word boundaries, stop words, stems, n-grams. A
 * term is named by its 64-bit hash; strings are made only for those who ask. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "base/strings.h"

enum token_kind {
    TOKENS_WORDS, /* Unicode words (UAX 29), numbers among them; dictionary or bigrams where no
                     spaces are */
    TOKENS_REGEX, /* maximal runs of what Python's \w matches, lower-cased: no other folding */
    TOKENS_CHARS, /* characters of the folded text, white space runs as one space; n-grams of them
                   */
};

enum { TERM_NGRAM_MAX = 32 };

struct term_options {
    enum token_kind tokens;
    unsigned ngram; /* 1 or more consecutive tokens make a term; fewer in a shorter text */
    bool stem;      /* Snowball, where the language has one (words only) */
    bool drop_stop_words;
    char language[LANGUAGE_CODE_BYTES]; /* ISO 639-1, "auto" (detected a document), or "" (none) */
};
void term_options_init(struct term_options *options);

/* One a thread: it holds buffers, stemmers and a cache of stems. */
struct analyzer;
cog_status analyzer_create(const struct term_options *options, struct analyzer **analyzer,
                           cog_error *error);
void analyzer_free(struct analyzer *analyzer);
/* What one takes, but for buffers of the size of a text. */
size_t analyzer_memory_bytes(void);

/* The terms of a text in their order; zero-initialise, reuse. Where strings were asked for, term i
 * is strings.data[ends[i - 1] .. ends[i]) (n-grams: tokens joined by a space). */
struct term_list {
    uint64_t *hashes;
    size_t count, capacity;
    bool want_strings;
    struct buffer strings;
    size_t *ends;
    size_t ends_capacity;
};
void term_list_free(struct term_list *list);

/* text must be valid UTF-8. language (may be empty) is the document's own and wins over the
 * options'. */
cog_status analyzer_run(struct analyzer *analyzer, struct bytes_view text,
                        struct bytes_view language, struct term_list *list, cog_error *error);

/* The versions of the libraries and tables that decide which terms a text has under these options,
 * such as "icu 72 unicode 15.0 stemmer 5c3a91d2": ICU always, stemmer, stop words and language
 * detector where they are used. Stemmer and stop words have no version numbers and are named by
 * hashes of what they do. Costs less than a millisecond. */
enum { TEXT_VERSIONS_BYTES = 160 };
void text_versions(const struct term_options *options, char versions[TEXT_VERSIONS_BYTES]);

/* Whether the code is one of ISO 639. */
bool language_is_known(const char *code);
/* Whether Snowball has a stemmer, and the package a stop-word list, for an ISO 639-1 code. */
bool language_has_stemmer(const char *code);
bool language_has_stop_words(const char *code);

/* From text to terms: NFKC case folding, Unicode word boundaries, stop words, stems, n-grams.
 *
 * In: a text and its language. Out: the list of its terms in text order. A term is identified by
 * its 64-bit hash; its string is made on request. The functions for callers come first, then the
 * parts: the writer that turns tokens into terms, lists of terms, and character terms. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "base/strings.h"
#include "text/language/language.h"
#include "text/text_scanner.h"

enum token_kind {
    TOKENS_WORDS, /* Unicode words (UAX 29), numbers among them; dictionary or bigrams where no
                     spaces are */
    TOKENS_REGEX, /* maximal runs of what Python's \w matches, lower-cased: no other folding */
    TOKENS_CHARS, /* characters of the folded text, white space runs as one space; n-grams of them
                   */
    TOKENS_CODE,  /* identifiers, numbers and signs of source code, as they are written */
};

enum { TERM_NGRAM_MAX = 32 };

/* Short texts. One changed word changes n of a text's n-grams, which is most of them in a text of a
 * few words. A text of at most SHORT_TEXT_TOKENS tokens is therefore compared by its words, with
 * texts of at most BRIDGE_TEXT_TOKENS tokens; all other texts are compared by their n-grams.
 * Comparing by words ignores their order. In a text of at most TINY_TEXT_TOKENS tokens the order is
 * half of the meaning ("man bites dog") and changing one word leaves little of the text, so such a
 * text is a single term. */
enum { TINY_TEXT_TOKENS = 3, SHORT_TEXT_TOKENS = 10, BRIDGE_TEXT_TOKENS = 20 };

struct term_options {
    enum token_kind tokens;
    unsigned ngram; /* 1 or more consecutive tokens make a term; fewer in a shorter text */
    bool stem;      /* Snowball, where the language has one (words only) */
    bool drop_stop_words;
    bool elide; /* cut off articles and the like before an apostrophe, in languages that elide:
                 * "l'homme" becomes "homme" (words only) */
    char
        language[LANGUAGE_CODE_BYTES]; /* ISO 639-1, "auto" (detected per document), or "" (none) */
    bool short_texts; /* add terms for the comparison of short texts (n-grams of more than one
                       * token; not for characters and code, where the order is essential) */
};
void term_options_init(struct term_options *options);

/* One per thread: it holds buffers, stemmers and a cache of stems. */
struct analyzer;
cog_status analyzer_create(const struct term_options *options, struct analyzer **analyzer,
                           cog_error *error);
void analyzer_free(struct analyzer *analyzer);
/* Memory of one analyzer, without buffers that grow with the text. */
size_t analyzer_memory_bytes(void);

/* The terms of a text in order. Zero-initialise, reuse. If strings were requested, term i is
 * strings.data[ends[i - 1] .. ends[i]) (n-grams: tokens joined by a space). If places were
 * requested, places[i] is the range of term i in the text, from its first token to its last, on
 * character boundaries. Beginnings and ends ascend; they start again with the words of short texts.
 *
 * With short_texts, the last `short_terms` terms of a text of at most BRIDGE_TEXT_TOKENS tokens are
 * its words. A text of at most SHORT_TEXT_TOKENS has no other terms. A text of at most
 * TINY_TEXT_TOKENS has a single term: all its tokens in order. The term of a word includes how
 * often the word occurred before: the second "the" is a different term from the first. No such term
 * equals an n-gram or the term of a single word. */
struct term_list {
    uint64_t *hashes;
    size_t count, capacity;
    size_t short_terms;
    bool want_strings, want_places;
    struct buffer strings;
    size_t *ends;
    struct text_place *places;
    size_t ends_capacity, place_capacity;
};
void term_list_free(struct term_list *list);

/* `text` must be valid UTF-8. `language` (may be empty) is the document's own and overrides the
 * options. */
cog_status analyzer_run(struct analyzer *analyzer, struct bytes_view text,
                        struct bytes_view language, struct term_list *list, cog_error *error);

/* The versions of the libraries and tables that decide which terms a text has under these options,
 * such as "icu 72 unicode 15.0 stemmer 5c3a91d2": always ICU; stemmer, stop words, elisions and
 * language detector if they are used. The stemmer, the stop words and the elisions have no version
 * numbers and are identified by hashes of their behaviour. Takes less than a millisecond. */
enum { TEXT_VERSIONS_BYTES = 160 };
void text_versions(const struct term_options *options, char versions[TEXT_VERSIONS_BYTES]);

/* Whether the code is an ISO 639 code. */
bool language_is_known(const char *code);
/* Whether a Snowball stemmer exists for an ISO 639-1 code. */
bool language_has_stemmer(const char *code);

/* ---- From tokens to terms -------------------------------------------------------------------- */

/* Cuts off elided words, drops stop words, takes stems and writes hashes. A cache keeps the results
 * for frequent words. */

enum { CACHED_WORD_BYTES = 24, TERM_CACHE_SLOTS = 1 << 17 };

/* `word` is padded with zeros; language 0 marks a free slot. */
struct cached_term {
    uint64_t word[CACHED_WORD_BYTES / 8];
    uint64_t hash;
    uint8_t size, language, dropped;
};

struct term_writer {
    bool stem, drop_stop_words, elide;
    const struct text_kernels *kernels;
    struct cached_term *cache;
    const struct language *language; /* of the document; NULL: none */
    const char *text;                /* its first byte, for places */
    struct term_list *list;
};

cog_status term_writer_init(struct term_writer *writer, const struct term_options *options,
                            cog_error *error);
void term_writer_release(struct term_writer *writer);
/* Adds the terms of a batch to writer->list. */
cog_status term_writer_take(struct term_writer *writer, const struct token_batch *batch,
                            cog_error *error);

/* Makes room for `extra` more hashes, and for ends and places if they are wanted. */
cog_status term_list_reserve(struct term_list *list, size_t extra, cog_error *error);
cog_status term_list_add(struct term_list *list, uint64_t hash, struct bytes_view string,
                         cog_error *error);
/* Turns the list's tokens into n-grams in place, with the best kernels of the machine; fewer than n
 * tokens make one term. */
cog_status term_list_join(struct term_list *list, unsigned n, cog_error *error);
/* The same for texts of any size, with the words of short texts as described at `struct term_list`.
 */
cog_status term_list_join_short(struct term_list *list, unsigned n, cog_error *error);

/* ---- Terms of n characters ------------------------------------------------------------------- */

/* Collapses every run of white space to one space and trims both ends, in place. The places of the
 * bytes (may be NULL) move with them. */
void char_terms_squeeze(struct buffer *folded, struct text_place *places);
/* Adds every n consecutive characters as a term; one term if there are fewer than n, nothing if
 * there are none. `places` holds the places of the bytes, if the list wants places. */
cog_status char_terms_add(struct bytes_view folded, const struct text_place *places, unsigned n,
                          struct term_list *list, cog_error *error);

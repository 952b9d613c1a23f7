/* From text to terms: NFKC case folding, Unicode word boundaries, stop words, stems, n-grams. In: a
 * text and its language. Out: a list of terms in their order; a term is named by its 64-bit hash,
 * and its string is made on request. First comes what callers use, then its parts: the writer that
 * makes terms of tokens, lists of terms, and terms of characters. */
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

/* Short texts: one changed word changes n of a text's n-grams, most of them in a text of a few
 * words. A text of at most SHORT_TEXT_TOKENS tokens is therefore compared by its words, with texts
 * of at most BRIDGE_TEXT_TOKENS tokens; all other texts are compared by their n-grams. The order of
 * words does not count then. In a text of at most TINY_TEXT_TOKENS it is half of the meaning ("man
 * bites dog"), and no change of a word leaves much of the text: such a text is one term. */
enum { TINY_TEXT_TOKENS = 3, SHORT_TEXT_TOKENS = 10, BRIDGE_TEXT_TOKENS = 20 };

struct term_options {
    enum token_kind tokens;
    unsigned ngram; /* 1 or more consecutive tokens make a term; fewer in a shorter text */
    bool stem;      /* Snowball, where the language has one (words only) */
    bool drop_stop_words;
    bool elide; /* articles and their like before an apostrophe are cut off, where the language
                   elides: "l'homme" is "homme" (words only) */
    char language[LANGUAGE_CODE_BYTES]; /* ISO 639-1, "auto" (detected a document), or "" (none) */
    bool short_texts; /* terms for the comparison of short texts (n-grams of more than one token;
                         not for characters and code, where order is all) */
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
 * is strings.data[ends[i - 1] .. ends[i]) (n-grams: tokens joined by a space). Where places were
 * asked for, places[i] is where term i stands in the text, from its first token to its last; they
 * begin and end at characters. Beginnings and ends ascend, and start again with the words of short
 * texts.
 *
 * With short_texts, a text of at most BRIDGE_TEXT_TOKENS tokens has its words as its last
 * `short_terms` terms, and one of at most SHORT_TEXT_TOKENS has no others; one of at most
 * TINY_TEXT_TOKENS has a single term, all of its tokens in their order. A word's term counts how
 * often the word has come before: the second "the" is another term than the first. No such term
 * equals an n-gram, nor the word's term in a list of single words. */
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

/* text must be valid UTF-8. language (may be empty) is the document's own and wins over the
 * options'. */
cog_status analyzer_run(struct analyzer *analyzer, struct bytes_view text,
                        struct bytes_view language, struct term_list *list, cog_error *error);

/* The versions of the libraries and tables that decide which terms a text has under these options,
 * such as "icu 72 unicode 15.0 stemmer 5c3a91d2": ICU always, stemmer, stop words, elisions
 * and language detector if they are used. The first three have no version numbers and are named
 * by hashes of what they do. Costs less than a millisecond. */
enum { TEXT_VERSIONS_BYTES = 160 };
void text_versions(const struct term_options *options, char versions[TEXT_VERSIONS_BYTES]);

/* Whether the code is one of ISO 639. */
bool language_is_known(const char *code);
/* Whether there is a stemmer of Snowball's, and a list of stop words, for an ISO 639-1 code. */
bool language_has_stemmer(const char *code);
bool language_has_stop_words(const char *code);

/* ---- From tokens to terms -------------------------------------------------------------------- */

/* Elided words are cut off, stop words dropped, stems taken, hashes written. A cache keeps what
 * became of frequent words.
 */

enum { CACHED_WORD_BYTES = 24, TERM_CACHE_SLOTS = 1 << 17 };

/* word is padded with zeros; language 0 marks a free slot. */
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
/* Turns the list's tokens into n-grams in place; fewer than n tokens make one term. These are made
 * with the best kernels of the machine. */
cog_status term_list_join(struct term_list *list, unsigned n, cog_error *error);
/* The same for texts of any size, with the words of short ones as `struct term_list` tells. */
cog_status term_list_join_short(struct term_list *list, unsigned n, cog_error *error);

/* ---- Terms of n characters ------------------------------------------------------------------- */

/* Every run of white space becomes one space, at the ends nothing; in place. The places of the
 * bytes (may be NULL) move with them. */
void char_terms_squeeze(struct buffer *folded, struct text_place *places);
/* Adds every n neighbouring characters; all of them if there are fewer, nothing if there are
 * none. places: of the bytes, if the list wants places. */
cog_status char_terms_add(struct bytes_view folded, const struct text_place *places, unsigned n,
                          struct term_list *list, cog_error *error);

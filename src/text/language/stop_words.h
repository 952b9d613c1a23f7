/* Stop words by language: every language that Snowball has a stemmer for has a list.
 *
 * The lists of fifteen languages are Snowball's, turned into a table at build time
 * (snowball_stop_words.pl). The others are in stop_words.c: articles, pronouns, prepositions,
 * conjunctions and auxiliaries. Lists are as people write; the caller folds them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"

struct stop_word_list {
    const char *language; /* ISO 639-1 */
    const char *words;    /* separated by blanks */
};

extern const struct stop_word_list snowball_stop_words[];
extern const unsigned snowball_stop_word_count;

/* The words of a language, separated by blanks; NULL if it has no list. */
const char *stop_words_of(const char *canonical);
size_t stop_words_count(const char *words);
/* Takes the next word off the front of *words; false after the last. */
bool stop_words_next(const char **words, struct bytes_view *word);

/* A hash of all lists, in place of a version number. */
uint32_t stop_words_hash(void);

/* Elided words: words that lose their vowel before the next word and are written as one with it.
 * "l'homme" is le and homme, "dell'acqua" is della and acqua. Unicode's word boundaries keep these
 * in one piece, which would make a noun with its article a different word from the noun.
 *
 * In: a folded word, in which every apostrophe is '. Out: the size of the elided word at its front.
 * French, Italian, Catalan and Occitan; only articles, pronouns, prepositions and conjunctions,
 * because the elided word is dropped ("aujourd'hui" and "presqu'île" stay whole). */
#pragma once

#include <stdint.h>

#include "base/strings.h"

/* The elided words of a language (ISO 639-1), separated by blanks; NULL if there are none. */
const char *elisions_of(const char *canonical);

/* The size of the elided word at the front of the word, including the apostrophe; 0 if there is
 * none or nothing would be left. */
size_t elision_bytes(const char *elisions, struct bytes_view word);

/* A hash of the tables, used instead of a version number. */
uint32_t elisions_hash(void);

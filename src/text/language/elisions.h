/* Words that lose their vowel before the next word and are written as one with it: "l'homme" is le
 * and homme, "dell'acqua" is della and acqua. Unicode's word boundaries leave these in one piece,
 * so that a noun with its article would be another word than the noun.
 *
 * In: a folded word, in which the apostrophe is ' whatever stood in the text. Out: how much of its
 * front is such a word. French, Italian, Catalan and Occitan; only articles, pronouns, prepositions
 * and conjunctions, because what is cut off is dropped ("aujourd'hui" and "presqu'île" stay whole).
 */
#pragma once

#include <stdint.h>

#include "base/strings.h"

/* The elided words of a language (ISO 639-1), separated by blanks; NULL if there are none. */
const char *elisions_of(const char *canonical);

/* The bytes at the front of the word, apostrophe included, that are one of the elided words; 0 if
 * there are none or nothing would be left. */
size_t elision_bytes(const char *elisions, struct bytes_view word);

/* A hash of the tables, in place of a version number. */
uint32_t elisions_hash(void);

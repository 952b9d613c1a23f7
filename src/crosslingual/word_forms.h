/* Finds other forms of words that a lexicon does not have: "prawami" is a form of "prawach",
 * "권리를" of "권리". Such words are frequent in languages without a stemmer and where a stemmer
 * misses forms.
 *
 * In: a folded word. Out: the lexicon word that shares the longest prefix with it, if the prefix is
 * most of both words; of several, the most frequent. Uses no knowledge of the language. Memory: 4
 * bytes per word of the lexicon. */
#pragma once

#include "crosslingual/lexicon.h"

/* Zero-initialise. The lexicon is borrowed. */
struct word_forms {
    const struct lexicon *lexicon;
    uint32_t *order; /* the lexicon's source words in byte order */
};
cog_status word_forms_init(struct word_forms *forms, const struct lexicon *lexicon,
                           cog_error *error);
void word_forms_free(struct word_forms *forms);

/* WORD_NONE if there is none. */
uint32_t word_forms_find(const struct word_forms *forms, struct bytes_view word);

/* Other forms of words that a lexicon does not know: "prawami" is a form of "prawach", "권리를" one
 * of "권리". Languages without a stemmer, and words that a stemmer leaves apart, have many.
 *
 * In: a folded word. Out: the lexicon's word that has the longest beginning in common with it, if
 * this is most of both words; of several, the most frequent. Nothing is known of the language.
 * Memory: four bytes per word of the lexicon. */
#pragma once

#include "crosslingual/lexicon.h"

/* Zero-initialise. The lexicon is borrowed. */
struct word_forms {
    const struct lexicon *lexicon;
    uint32_t *order; /* the lexicon's source words by their bytes */
};
cog_status word_forms_init(struct word_forms *forms, const struct lexicon *lexicon,
                           cog_error *error);
void word_forms_free(struct word_forms *forms);

/* WORD_NONE if there is none. */
uint32_t word_forms_find(const struct word_forms *forms, struct bytes_view word);

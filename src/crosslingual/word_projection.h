/* What a source term becomes in the target language: the one rule for projecting documents, whether
 * a whole collection at once (projection.h, linking) or one document at a time
 * (document_projector.h, indexes and searches).
 *
 * A term that the lexicon has becomes its translations with their probabilities. Any other term is
 * represented by the word in the text (source_words), because a stem of one language is not a stem
 * of the other. Such a word becomes, in this order: itself, if the target language has it too; the
 * parts of a compound, each at half weight; in a language without a stemmer, another form of the
 * word (word_forms.h), also at half weight; itself.
 *
 * Without a target collection, the target words of the lexicon define which words the target
 * language has, and a compound that can be split also stands for itself, at half weight. */
#pragma once

#include "crosslingual/compounds.h"
#include "crosslingual/word_forms.h"
#include "vector/statistics.h"

struct projection_options {
    bool source_given_target; /* w = p(f | e), as in the paper */
    bool keep_unknown;        /* words that cannot be translated stand for themselves */
    struct compound_options compounds;
};
void projection_options_init(struct projection_options *options);

/* ---- Terms of source documents --------------------------------------------------------------- */

/* One per thread. */
struct source_words {
    struct analyzer *words; /* like the analyzer of documents, but without stems */
    struct term_list list;
    struct word_table unknown; /* words of all documents so far that the lexicon does not know */
};
/* terms: of the source documents. Free it also after an error. */
cog_status source_words_init(struct source_words *words, const struct term_options *terms,
                             cog_error *error);
void source_words_free(struct source_words *words);
/* Replaces each term that the lexicon does not have by the word itself. `terms` are the terms of
 * the text from the analyzer of documents. */
cog_status source_words_take(struct source_words *words, const struct lexicon *lexicon,
                             struct bytes_view text, struct bytes_view language,
                             struct term_list *terms, cog_error *error);

/* Words that cannot be translated: the string in the document, and the term that the target
 * language's analyzer makes of it. Found by the hash of the string. */
struct unknown_words {
    struct word_table strings;
    uint64_t *target_hashes; /* for each of the strings */
    size_t target_capacity;
};
/* Adds a word with the term that the target language's analyzer makes of it, or with its own hash
 * if the analyzer makes none or several. The analyzer must keep stop words; `list` is scratch. */
cog_status unknown_words_add(struct unknown_words *unknown, struct analyzer *target,
                             struct term_list *list, struct bytes_view string, cog_error *error);
void unknown_words_free(struct unknown_words *unknown);

/* ---- Projection of one term ------------------------------------------------------------------ */

struct projected_word {
    uint64_t hash; /* a term of the target language */
    float weight;
};

/* For one thread; lexicon, options and statistics are borrowed for its life. */
struct word_projector {
    const struct lexicon *lexicon;
    const struct projection_options *options;
    const struct statistics *to; /* of the target collection, which says whether the target language
                                    has a word; NULL: the lexicon says it */
    struct compound_splitter *splitter;
    struct word_forms forms;      /* none without `to`, nor if the source language has a stemmer */
    struct projected_word *words; /* the result for the last term */
    size_t count, capacity;
    uint64_t known, split, passed, dropped; /* terms by outcome */
};
cog_status word_projector_init(struct word_projector *projector, const struct lexicon *lexicon,
                               const struct projection_options *options,
                               const struct term_options *from_terms, const struct statistics *to,
                               cog_error *error);
void word_projector_free(struct word_projector *projector);
/* `unknown` has every word that the lexicon does not have; a term that is in neither is dropped. */
cog_status word_project(struct word_projector *projector, uint64_t hash,
                        const struct unknown_words *unknown, cog_error *error);

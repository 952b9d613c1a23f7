/* What a source term becomes in the target language: the one rule by which documents are projected,
 * whether a whole collection at once (projection.h, linking) or one document at a time
 * (document_projector.h, indexes and searches).
 *
 * A term that the lexicon has becomes its translations with their probabilities. Any other term is
 * kept as the word that stands in the text (source_words), because a stem of one language is not a
 * stem of the other. Such a word stands for itself if the target language has it too; otherwise for
 * the parts of a compound, each at half weight, or in a language without a stemmer for another form
 * of the word (word_forms.h), at half weight too; otherwise for itself. Without a collection that
 * says which words the target language has, the target words of the lexicon say it, and a compound
 * that can be split stands for itself too, at half weight. */
#pragma once

#include "crosslingual/compounds.h"
#include "crosslingual/word_forms.h"
#include "vector/statistics.h"

struct projection_options {
    bool source_given_target; /* w = p(f | e): the paper's */
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
/* Replaces each term that the lexicon does not know by the word itself. `terms` are those of the
 * text by the analyzer of documents. */
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
 * if the analyzer makes none or several. The analyzer keeps stop words; list is scratch. */
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
    struct projected_word *words; /* what the last term became */
    size_t count, capacity;
    uint64_t known, split, passed, dropped; /* terms by what became of them */
};
cog_status word_projector_init(struct word_projector *projector, const struct lexicon *lexicon,
                               const struct projection_options *options,
                               const struct term_options *from_terms, const struct statistics *to,
                               cog_error *error);
void word_projector_free(struct word_projector *projector);
/* `unknown` has every word that the lexicon does not know; a term that neither has is dropped. */
cog_status word_project(struct word_projector *projector, uint64_t hash,
                        const struct unknown_words *unknown, cog_error *error);

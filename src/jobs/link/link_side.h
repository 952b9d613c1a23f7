/* One side of a link while it is read: the documents of the source language (side 0) or of the
 * target language (side 1), made into terms as the words of the lexicon were made.
 *
 * In: documents and the lexicon, which is borrowed for the life of the side. Out: a corpus, or a
 * spool of its terms; the languages that the documents name; and of the source side the words that
 * the lexicon does not know. Memory in addition to the corpus: these words, once per thread. */
#pragma once

#include "collection/corpus.h"
#include "collection/language_tally.h"
#include "crosslingual/word_projection.h"

/* link_side_init, link_side_read once, link_side_free also after an error. */
struct link_side {
    const struct lexicon *lexicon;
    int number;
    struct term_options terms;
    struct language_tally tally;
    struct source_words *workers; /* one per thread; NULL on the target side */
    unsigned worker_count;
};
cog_status link_side_init(struct link_side *side, const struct lexicon *lexicon, int number,
                          unsigned threads, cog_error *error);
/* spool: as in corpus_options; NULL: the terms stay in memory. */
cog_status link_side_read(struct link_side *side, cog_documents *documents, struct bag_spool *spool,
                          const cog_run_options *run, struct corpus *corpus, cog_report *report,
                          cog_error *error);
void link_side_free(struct link_side *side);

/* The documents of the languages that the sides have in the lexicon. */
cog_status link_tally_init(struct language_tally *tally, const struct lexicon *lexicon, int side,
                           cog_error *error);
/* COG_ERR_USAGE if most documents are of the other side's language. */
cog_status link_tally_judge(const struct language_tally *tally, int side, cog_report *report,
                            cog_error *error);

/* Adds words with the terms that the target language makes of them. */
cog_status link_words_add(struct unknown_words *unknown, const struct term_options *target,
                          const struct word_table *words, cog_error *error);

/* Reads one side of a link: the documents of the source language (side 0) or of the target language
 * (side 1), as terms made like the words of the lexicon.
 *
 * In: documents and the lexicon, which is borrowed for the lifetime of the side. Out: a corpus, or
 * a spool of its terms; the languages that the documents declare; and for the source side the words
 * that are not in the lexicon. Memory in addition to the corpus: these words, once per thread. */
#pragma once

#include "collection/corpus.h"
#include "collection/language_tally.h"
#include "crosslingual/word_projection.h"

/* Call link_side_init, link_side_read once, and link_side_free, also after an error. */
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
/* `spool` as in corpus_options; NULL: the terms stay in memory. */
cog_status link_side_read(struct link_side *side, cog_documents *documents, struct bag_spool *spool,
                          const cog_run_options *run, struct corpus *corpus, cog_report *report,
                          cog_error *error);
void link_side_free(struct link_side *side);

/* Counts the languages that documents declare, compared with the lexicon's. */
cog_status link_tally_init(struct language_tally *tally, const struct lexicon *lexicon, int side,
                           cog_error *error);
/* COG_ERR_USAGE if most documents are in the other side's language. */
cog_status link_tally_judge(const struct language_tally *tally, int side, cog_report *report,
                            cog_error *error);

/* Adds words with the terms that the target language's analyzer makes of them. */
cog_status link_words_add(struct unknown_words *unknown, const struct term_options *target,
                          const struct word_table *words, cog_error *error);

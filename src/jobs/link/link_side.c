#include "jobs/link/link_side.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "collection/foreign_documents.h"

/* ---- Languages ------------------------------------------------------------------------------- */

cog_status link_tally_init(struct language_tally *tally, const struct lexicon *lexicon, int side,
                           cog_error *error) {
    struct term_options own, other;
    TRY(lexicon_terms(lexicon, side == 0, &own, error));
    TRY(lexicon_terms(lexicon, side != 0, &other, error));
    language_tally_init(tally, own.language, other.language);
    return COG_OK;
}

cog_status link_tally_judge(const struct language_tally *tally, int side, cog_report *report,
                            cog_error *error) {
    return language_tally_judge(tally, side == 0 ? "first" : "second", report, error);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Counts the language of a document, and replaces source terms that are not in the lexicon. */
static cog_status watch_document(void *context, unsigned worker, const struct document *document,
                                 struct term_list *terms, cog_error *error) {
    struct link_side *side = context;
    language_tally_count(&side->tally, document->lang);
    if (side->number != 0)
        return COG_OK;
    return source_words_take(&side->workers[worker], side->lexicon, document->text, document->lang,
                             terms, error);
}

cog_status link_side_init(struct link_side *side, const struct lexicon *lexicon, int number,
                          unsigned threads, cog_error *error) {
    *side = (struct link_side){.lexicon = lexicon, .number = number};
    TRY(lexicon_terms(lexicon, number == 0, &side->terms, error));
    TRY(link_tally_init(&side->tally, lexicon, number, error));
    if (number != 0)
        return COG_OK;
    TAKE_ZEROED(side->workers, threads, "workers", error);
    side->worker_count = threads;
    for (unsigned i = 0; i < threads; i++)
        TRY(source_words_init(&side->workers[i], &side->terms, error));
    return COG_OK;
}

cog_status link_side_read(struct link_side *side, cog_documents *documents, struct bag_spool *spool,
                          const cog_run_options *run, struct corpus *corpus, cog_report *report,
                          cog_error *error) {
    const struct corpus_options options = {.terms = &side->terms,
                                           .want_frequencies = true,
                                           .amend = watch_document,
                                           .amend_context = side,
                                           .spool = spool};
    return corpus_read(corpus, documents, &options, run, report, error);
}

void link_side_free(struct link_side *side) {
    for (unsigned i = 0; i < side->worker_count; i++)
        source_words_free(&side->workers[i]);
    free(side->workers);
    *side = (struct link_side){0};
}

/* ---- Words that are not in the lexicon ------------------------------------------------------- */

cog_status link_words_add(struct unknown_words *unknown, const struct term_options *target,
                          const struct word_table *words, cog_error *error) {
    struct term_options whole = *target;
    struct analyzer *analyzer = NULL;
    struct term_list list = {0};
    whole.drop_stop_words = false;
    cog_status status = analyzer_create(&whole, &analyzer, error);
    for (uint32_t w = 0; w < words->count && status == COG_OK; w++)
        status = unknown_words_add(unknown, analyzer, &list, word_table_string(words, w), error);
    analyzer_free(analyzer);
    term_list_free(&list);
    return status;
}

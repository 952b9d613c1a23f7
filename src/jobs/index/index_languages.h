/* The lexicons of an index, and the languages of what comes to it.
 *
 * An index is in one language. It takes documents of others that lexicons project into its own,
 * side by side, and remembers for each of these languages how that was done: the manifest has
 * settings such as "lexicon de" = "en 03fd9c1e5a7b2468 to-given-from keep s,es,n,en,e"
 * (foreign_documents.h). Documents and queries of such a language must be projected in the same
 * way. An index without documents of other languages takes queries by any lexicon into its
 * language. */
#pragma once

#include "collection/foreign_documents.h"
#include "jobs/index/index_job.h"

bool index_has_lexicon(const cog_index *index);
/* Adds it to the settings of a manifest; foreign may be NULL. */
cog_status index_record_lexicon(struct settings *settings, const struct foreign_documents *foreign,
                                cog_error *error);
/* COG_ERR_USAGE if documents of that language are there that were projected differently, or into
 * another language. *is_new (may be NULL): the index has none of that language yet. foreign may be
 * NULL. */
cog_status index_check_lexicon(const cog_index *index, const struct foreign_documents *foreign,
                               bool *is_new, cog_error *error);
/* The same, and COG_ERR_USAGE if the index has no such lexicon: for additions by the log, which
 * cannot record one. */
cog_status index_expect_lexicon(const cog_index *index, const struct foreign_documents *foreign,
                                cog_error *error);
/* COG_ERR_USAGE if a text, asked without a lexicon, is of another language than the index, which
 * has documents projected by lexicons. The language is named, or else guessed from the text. `id`
 * is for the message; empty for none. */
cog_status index_check_language(const cog_index *index, struct bytes_view language,
                                struct bytes_view text, struct bytes_view id, cog_error *error);

/* The same for a collection of queries: a named language counts at once, guesses only if more than
 * half of the queries are of other languages. */
struct query_languages {
    const cog_index *index;
    uint64_t queries, foreign;          /* atomic */
    char language[LANGUAGE_CODE_BYTES]; /* the first foreign one; under the lock */
    pthread_mutex_t lock;
};
/* Has the reading of queries watched, if there is something to watch. */
void query_languages_watch(struct query_languages *languages, const cog_index *index,
                           const struct foreign_documents *foreign, struct corpus_options *reading);
/* After the reading, whether or not it succeeded: judges and releases. */
cog_status query_languages_judge(struct query_languages *languages, cog_error *error);

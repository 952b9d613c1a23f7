/* The lexicons of an index, and the languages of its documents and queries.
 *
 * An index is in one language. It also takes documents in other languages that lexicons project
 * into its own, and records for each of these languages how they were projected: the manifest has
 * settings such as "lexicon de" = "en 03fd9c1e5a7b2468 to-given-from keep s,es,n,en,e"
 * (foreign_documents.h). Documents and queries in such a language must be projected in the same
 * way. An index without documents in other languages takes queries through any lexicon into its
 * language. */
#pragma once

#include "collection/foreign_documents.h"
#include "jobs/index/index_job.h"

bool index_has_lexicon(const cog_index *index);
/* Adds the lexicon to the settings of a manifest; `foreign` may be NULL. */
cog_status index_record_lexicon(struct settings *settings, const struct foreign_documents *foreign,
                                cog_error *error);
/* COG_ERR_USAGE if the index has documents in that language that were projected differently, or
 * into another language. Sets *is_new (may be NULL) if the index has none in that language yet.
 * `foreign` may be NULL. */
cog_status index_check_lexicon(const cog_index *index, const struct foreign_documents *foreign,
                               bool *is_new, cog_error *error);
/* The same, but also COG_ERR_USAGE if the index does not have the lexicon: for additions by the
 * log, which cannot record one. */
cog_status index_expect_lexicon(const cog_index *index, const struct foreign_documents *foreign,
                                cog_error *error);
/* For a query without a lexicon: COG_ERR_USAGE if its language differs from that of the index and
 * the index has documents projected by lexicons. The language is declared, or else guessed from the
 * text. `id` is for the message; it may be empty. */
cog_status index_check_language(const cog_index *index, struct bytes_view language,
                                struct bytes_view text, struct bytes_view id, cog_error *error);

/* The same for a collection of queries: a declared language counts immediately, guesses only if
 * more than half of the queries are in other languages. */
struct query_languages {
    const cog_index *index;
    uint64_t queries, foreign;          /* atomic */
    char language[LANGUAGE_CODE_BYTES]; /* the first foreign language; under the lock */
    pthread_mutex_t lock;
};
/* Observes the reading of queries if the index has documents in other languages. */
void query_languages_watch(struct query_languages *languages, const cog_index *index,
                           const struct foreign_documents *foreign, struct corpus_options *reading);
/* Call after reading, even after an error: judges and releases. */
cog_status query_languages_judge(struct query_languages *languages, cog_error *error);

/* Statistics of a collection (document frequencies of its terms) with the settings of their terms:
 * from one streaming pass over documents, or from a file. Memory grows with the vocabulary. */
#pragma once

#include "collection/bag_spool.h"
#include "collection/options.h"

/* spool, if not NULL, receives the bags of all documents in order. */
cog_status statistics_collect(cog_documents *documents, const cog_term_options *terms,
                              const cog_run_options *run, struct bag_spool *spool,
                              cog_statistics **statistics, cog_report *report, cog_error *error);
/* Fails if the file's terms were made differently. */
cog_status statistics_read(const char *path, const cog_term_options *terms,
                           cog_statistics **statistics, cog_error *error);
/* Another owner, who releases them too; nobody may change them meanwhile. */
cog_statistics *statistics_retain(cog_statistics *statistics);
/* Whether they have another owner. */
bool statistics_are_shared(const cog_statistics *statistics);
/* A copy of one owner. */
cog_status statistics_copy(const cog_statistics *statistics, cog_statistics **copy,
                           cog_error *error);
/* Gives them a name (`state`) that no others have in this process. They must not change any more.
 */
void statistics_settle(cog_statistics *statistics);
/* Accepts NULL. */
void statistics_release(cog_statistics *statistics);

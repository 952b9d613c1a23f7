/* Statistics of a collection (document frequencies of its terms) with the settings of their terms,
 * from one streaming pass over documents or from a file. Memory grows with the vocabulary. */
#pragma once

#include "collection/bag_spool.h"
#include "collection/options.h"

/* spool, if not NULL, receives the bags of all documents in order. */
cog_status statistics_collect(cog_documents *documents, const cog_term_options *terms,
                              const cog_run_options *run, struct bag_spool *spool,
                              cog_statistics **statistics, cog_report *report, cog_error *error);
/* COG_ERR_USAGE if the file's terms were made differently. */
cog_status statistics_read(const char *path, const cog_term_options *terms,
                           cog_statistics **statistics, cog_error *error);
/* Adds an owner, who must release them; while shared, they must not change. */
cog_statistics *statistics_retain(cog_statistics *statistics);
/* Whether there is another owner. */
bool statistics_are_shared(const cog_statistics *statistics);
/* A copy with one owner. */
cog_status statistics_copy(const cog_statistics *statistics, cog_statistics **copy,
                           cog_error *error);
/* Gives them an identifier (`state`) unique within this process. They must not change afterwards.
 */
void statistics_assign_state(cog_statistics *statistics);
/* Accepts NULL. */
void statistics_release(cog_statistics *statistics);

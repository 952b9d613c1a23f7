/* Statistics of a collection in one streaming pass, with the bags kept for signing on request. */
#pragma once

#include "collection/bag_spool.h"
#include "collection/options.h"

/* As cog_statistics_collect; spool, where not NULL, receives the bags of all documents in order. */
cog_status statistics_collect(cog_documents *documents, const cog_term_options *terms,
                              const cog_run_options *run, struct bag_spool *spool,
                              cog_statistics **statistics, cog_report *report, cog_error *error);

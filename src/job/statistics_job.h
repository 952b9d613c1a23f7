/* Statistics of a collection in one streaming pass, with the bags kept for signing on request. */
#ifndef COGNATE_JOB_STATISTICS_JOB_H
#define COGNATE_JOB_STATISTICS_JOB_H

#include "job/bag_spool.h"
#include "job/options.h"

/* As cog_statistics_collect; spool, where not NULL, receives the bags of all documents in order. */
cog_status statistics_collect(cog_documents *documents, const cog_term_options *terms,
                              const cog_run_options *run, struct bag_spool *spool,
                              cog_statistics **statistics, cog_report *report, cog_error *error);

#endif

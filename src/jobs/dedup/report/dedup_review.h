/* Manual review of a deduplication: verdicts change the decisions, and the report shows them.
 * During either call, the result is a table of rows (duplicate_rows.h): 48 bytes per document. */
#pragma once

#include "jobs/dedup/duplicates.h"
#include "jobs/dedup/report/verdicts.h"
#include "run/job.h"

/* How far below the threshold the report looks for pairs. */
#define REPORT_DEPTH 0.2
/* The minimum similarity of nearest documents for a report. */
double dedup_report_floor(double threshold);

/* Reads the text of the frequent n-gram, if any, and reports it in a notice. Costs reading the
 * input up to the record that contains it. */
cog_status dedup_name_frequent(struct duplicates *duplicates, cog_documents *documents,
                               const cog_dedup_options *options, struct job *job, cog_error *error);

/* Applies the verdicts to the decisions. The result must have sets. */
cog_status dedup_judge(struct duplicates *duplicates, const cog_dedup_options *options,
                       const struct verdicts *verdicts, struct job *job, cog_error *error);
/* Writes the report. The documents, and those of the reference collection, are read once more: call
 * ingest_keep_pipes before the first pass. */
cog_status dedup_report(const struct duplicates *duplicates, cog_documents *documents,
                        const cog_dedup_options *options, const char *path, struct job *job,
                        cog_error *error);

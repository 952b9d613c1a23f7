/* The report of dedup: one HTML file that shows what was removed and why, opens without a network,
 * and takes verdicts, which verdicts.h reads. In: the result, and the documents, which are read
 * once more for the texts that the page shows. Out: a file that is the same for the same result,
 * bounded by the limits of report_choice.h.
 *
 * The page itself is web/report; cmake/report_page.cmake makes a C table of it. The result stands
 * in it as JSON, in which no '<' appears, so that no id and no text can end the script element. */
#pragma once

#include "collection/ingest.h"
#include "jobs/dedup/duplicate_rows.h"

/* A call of ingest_keep_pipes must have come before the first pass over the documents, and over
 * those of rows->reference. */
cog_status report_page_write(cog_documents *documents, const struct duplicate_rows *rows,
                             const char *path, const cog_run_options *run, cog_report *report,
                             cog_error *error);

/* What stands before the result in the page, and behind it: generated from web/report. */
extern const unsigned char report_page_front[], report_page_back[];
extern const size_t report_page_front_size, report_page_back_size;

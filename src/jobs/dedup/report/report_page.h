/* The report of dedup: one HTML file that shows what was removed and why, works offline, and lets a
 * person give verdicts, which verdicts.h reads.
 *
 * In: the result, and the documents, which are read once more for the texts shown. Out: a file
 * determined by the result, bounded by the limits of report_choice.h.
 *
 * The page itself is web/report; cmake/report_page.cmake converts it to a C array. The result is
 * embedded as JSON without '<', so no id or text can end the script element. */
#pragma once

#include "collection/ingest.h"
#include "jobs/dedup/duplicate_rows.h"

/* Call ingest_keep_pipes before the first pass over the documents and over those of
 * rows->reference. */
cog_status report_page_write(cog_documents *documents, const struct duplicate_rows *rows,
                             const char *path, const cog_run_options *run, cog_report *report,
                             cog_error *error);

/* The page before and after the result, generated from web/report. */
extern const unsigned char report_page_front[], report_page_back[];
extern const size_t report_page_front_size, report_page_back_size;

/* Copies selected records of an input unchanged to the outputs of kept_files.h. The input is read
 * again and cut into records, but not parsed; adjacent kept records are copied in one piece.
 * Records that are not documents, such as the description of a crawl, are copied too. An input that
 * has changed since the first pass is an error. */
#pragma once

#include "collection/ingest.h"
#include "jobs/dedup/record_marks.h"

/* Rejects, before any work, inputs whose records cannot be written to `path`. */
cog_status kept_records_check(cog_documents *documents, const char *path, cog_error *error);

/* is_kept[r]: whether record r of the input is written. If marks is not NULL, all documents are
 * written instead, each with its mark. */
cog_status kept_records_write(cog_documents *documents, const uint8_t *is_kept, size_t record_count,
                              const struct record_marks *marks, const char *path,
                              const cog_run_options *run, cog_report *report, cog_error *error);

/* Copies chosen records of an input byte for byte to where kept_files.h says. The input is read
 * again and cut into records, not parsed; records that are kept next to each other are copied as
 * one piece. Records that are no documents, such as the description of a crawl, are copied too. An
 * input that has changed since the first pass is an error. */
#pragma once

#include "collection/ingest.h"
#include "jobs/dedup/record_marks.h"

/* Refuses inputs whose records cannot be written to `path`, before any work. */
cog_status kept_records_check(const cog_documents *documents, const char *path, cog_error *error);

/* is_kept[r]: whether record r of the input is written. Unless marks is NULL, all documents are
 * written instead, each with its mark. */
cog_status kept_records_write(cog_documents *documents, const uint8_t *is_kept, size_t record_count,
                              const struct record_marks *marks, const char *path,
                              const cog_run_options *run, cog_report *report, cog_error *error);

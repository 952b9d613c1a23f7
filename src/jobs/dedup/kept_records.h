/* Writes chosen records of an input byte for byte: into one file, or, if each file is a document,
 * into a folder. The result appears whole or not at all. */
#pragma once

#include "collection/ingest.h"

/* Refuses inputs whose records cannot stand in one output (several formats, query logs), before any
 * work. */
cog_status kept_records_check(const cog_documents *documents, const char *path, cog_error *error);

/* is_kept[r]: whether record r of the input is written. */
cog_status kept_records_write(cog_documents *documents, const uint8_t *is_kept, size_t record_count,
                              const char *path, const cog_run_options *run, cog_report *report,
                              cog_error *error);

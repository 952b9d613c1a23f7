/* Where the records that dedup keeps are written: one file for all inputs, or a folder with one
 * file per input file, of the same relative name, format and compression. In go records in input
 * order, with the header row of a table or the opening of a dump before them. The result appears
 * whole: a file and a new folder by one rename, files in a folder that exists by one rename each
 * once all of them are written; after a failure none of them is there. */
#pragma once

#include "jobs/dedup/record_marks.h"

struct kept_files;

/* Refuses, before any work, inputs whose records cannot be written to `path`: several formats for
 * one file, files whose names below a folder are the same or taken, standard input for a folder. */
cog_status kept_files_check(const struct reader *reader, const char *path, cog_error *error);

/* The reader has read its inputs once; it is borrowed until kept_files_close, as are the marks that
 * records will have, which may be NULL. */
cog_status kept_files_open(const struct reader *reader, const char *path,
                           const struct record_marks *marks, struct kept_files **files,
                           cog_error *error);
/* Appends records that follow each other in input file number `file`; at_beginning: the first of
 * them is the first of the file, where a byte order mark may stand. */
cog_status kept_files_write(struct kept_files *files, uint32_t file, struct bytes_view records,
                            bool at_beginning, cog_error *error);
cog_status kept_files_commit(struct kept_files *files, cog_error *error);
/* Without a commit nothing stays. Accepts NULL. */
void kept_files_close(struct kept_files *files);

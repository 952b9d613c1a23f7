/* Writes the records that dedup keeps: to one file for all inputs, or to a folder with one file per
 * input file, with the same relative name, format and compression. In: records in input order,
 * preceded by the header row of a table or the opening of a dump. The result appears only when
 * complete: a file or new folder by one rename; in an existing folder, each file by a rename once
 * all are written. After a failure there are no output files. */
#pragma once

#include "jobs/dedup/record_marks.h"

struct kept_files;

/* Rejects, before any work, inputs whose records cannot be written to `path`: several forms for one
 * file, names below a folder that collide or exist, standard input for a folder. The form of pipes
 * and query logs is rejected by the pass that reads them first. */
cog_status kept_files_check(struct reader *reader, const char *path, cog_error *error);

/* The reader must have read its inputs once. It is borrowed until kept_files_close, like the marks
 * that records will get, which may be NULL. */
cog_status kept_files_open(const struct reader *reader, const char *path,
                           const struct record_marks *marks, struct kept_files **files,
                           cog_error *error);
/* Appends consecutive records of input file number `file`. at_beginning: the first one is at the
 * beginning of the file, where a byte order mark is possible. */
cog_status kept_files_write(struct kept_files *files, uint32_t file, struct bytes_view records,
                            bool at_beginning, cog_error *error);
cog_status kept_files_commit(struct kept_files *files, cog_error *error);
/* Without a commit, removes everything. Accepts NULL. */
void kept_files_close(struct kept_files *files);

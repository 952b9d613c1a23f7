/* Output files that appear whole or not at all. Bytes go to a temporary file next to the target; on
 * commit it replaces the target (fsync, rename, fsync of the folder). If the target's name has the
 * suffix of a compressed file, the output is compressed. "-" is standard output; a broken pipe
 * there ends the writing without an error. */
#pragma once

#include "base/error.h"

struct output;

/* path is copied. Free with output_close. */
cog_status output_open(const char *path, struct output **output, cog_error *error);
/* The same, never compressed: for files that will be mapped. */
cog_status output_open_plain(const char *path, struct output **output, cog_error *error);
cog_status output_write(struct output *output, const void *data, size_t size, cog_error *error);
/* Opens, writes all of it, commits and closes. */
cog_status output_write_file(const char *path, const void *data, size_t size, cog_error *error);
/* Also writes a newline unless the data end with one. */
cog_status output_write_line(struct output *output, const char *data, size_t size,
                             cog_error *error);
/* Passes on what has been written, for readers that wait for it. Compressed bytes may be held back.
 */
cog_status output_flush(struct output *output, cog_error *error);
/* Whether earlier bytes can be overwritten: not on standard output, a pipe or a device, nor in
 * compressed output. */
bool output_is_file(const struct output *output);
/* Overwrites earlier bytes of a file, such as a header with counts that are known last. */
cog_status output_rewrite(struct output *output, uint64_t offset, const void *data, size_t size,
                          cog_error *error);
/* Makes the result visible under its name. Nothing may be written afterwards. */
cog_status output_commit(struct output *output, cog_error *error);
/* True once the reader of standard output has gone: further writing is pointless. */
bool output_is_broken(const struct output *output);
/* Releases the output; without a commit the temporary file is removed. Accepts NULL. */
void output_close(struct output *output);

/* Opens an unnamed scratch file in TMPDIR (or /tmp) that vanishes with its descriptor; *descriptor
 * is -1 on failure. */
cog_status scratch_file_open(int *descriptor, cog_error *error);
/* The same in the folder of the file `near_path`. "-" means TMPDIR; NULL means memory, for a few
 * megabytes. */
cog_status scratch_file_open_near(const char *near_path, int *descriptor, cog_error *error);

/* Zeroed memory backed by a scratch file, for tables larger than memory. Disk space is reserved for
 * all of it; COG_ERR_DISK if there is not enough. scratch_memory_free releases it and accepts NULL.
 */
cog_status scratch_memory_take(const char *near_path, size_t size, void **memory, cog_error *error);
void scratch_memory_free(void *memory, size_t size);

/* Zeroed memory of a job: in a scratch file in the folder of `near_path`, or on the heap if
 * `near_path` is NULL or the size is at most a megabyte. The same code so works in memory and on
 * disk. Zero-initialise; room_free releases. `what` appears in messages. */
struct room {
    void *data;
    size_t size_bytes;
    bool is_in_file;
};
cog_status room_take(struct room *room, const char *near_path, size_t count, size_t item_bytes,
                     const char *what, cog_error *error);
void room_free(struct room *room);

/* ---- Unfinished files and folders ------------------------------------------------------------ */

/* Each has its own name next to its target. All of them are in one list, so that a program that
 * must exit at once still leaves nothing behind (cog_abandon_outputs). */
struct temporary;

/* A new folder next to `target`, named after it. */
cog_status temporary_folder_create(const char *target, struct temporary **temporary,
                                   cog_error *error);
/* A new folder under its final name; *temporary is NULL if it already exists. */
cog_status temporary_folder_claim(const char *path, struct temporary **temporary, cog_error *error);
const char *temporary_path(const struct temporary *temporary);
/* The file or folder is finished, under its own name or another, and will not be removed. Accepts
 * NULL. */
void temporary_keep(struct temporary *temporary);
/* Deletes the file, or the folder with its content. Accepts NULL. */
void temporary_remove(struct temporary *temporary);

/* Output that appears whole or not at all: bytes go to a temporary file beside the target, which
 * replaces it by fsync, rename, fsync of the folder on commit. A target whose name ends as that of
 * a compressed file is compressed. "-" is standard output, and a broken pipe there ends the writing
 * without an error. */
#pragma once

#include "base/error.h"

struct output;

/* path is copied. Free with output_close. */
cog_status output_open(const char *path, struct output **output, cog_error *error);
/* The same, never compressed: for files that are mapped. */
cog_status output_open_plain(const char *path, struct output **output, cog_error *error);
cog_status output_write(struct output *output, const void *data, size_t size, cog_error *error);
/* Whether earlier bytes can be overwritten: not those of standard output, a pipe or a device, nor
 * compressed ones. */
bool output_is_file(const struct output *output);
/* Overwrites earlier bytes (a header whose counts come last) of a file. */
cog_status output_rewrite(struct output *output, uint64_t offset, const void *data, size_t size,
                          cog_error *error);
/* Makes the result visible under its name. Nothing may be written afterwards. */
cog_status output_commit(struct output *output, cog_error *error);
/* True once the reader of standard output has gone: further writing is futile. */
bool output_is_broken(const struct output *output);
/* Releases; without a commit before it the temporary file is removed. Accepts NULL. */
void output_close(struct output *output);

/* An unnamed scratch file in TMPDIR (or /tmp) that vanishes with its descriptor; -1 on failure. */
int scratch_file_open(cog_error *error);
/* The same in the folder of the file `beside`; "-" means TMPDIR. */
int scratch_file_open_beside(const char *beside, cog_error *error);

/* The files behind the arguments: folders walked in the byte order of names, formats told by
 * extension, names as document ids use them. */
#pragma once

#include "base/error.h"
#include "input/documents/csv_row.h"
#include "input/documents/query_log.h"
#include "input/reader.h"

struct input_file {
    char *path;               /* as it is opened; "-" is standard input */
    char *name;               /* as ids use it: valid UTF-8 */
    enum input_format format; /* INPUT_AUTO until the first bytes of a pipe tell */
    bool lines;               /* txt: each line is a document */
    bool optional;            /* found in a folder: skipped when it cannot be opened */
    bool skipped;
    bool read_once; /* has been opened in an earlier pass */
    bool is_pipe;
    bool has_digest; /* an earlier pass has read all of it */
    uint64_t digest;
    int64_t start_offset; /* of standard input when it is a regular file */
    int spool;            /* what came through the pipe, kept for the next pass; or -1 */
    struct buffer header; /* what stands before the first record of csv, tsv, wikixml */
    bool header_is_complete;
    struct buffer namespaces; /* wikixml: whose links are left out, for wiki_strip */
    struct csv_columns columns;
    enum query_columns query_columns;
};

struct input_files {
    const struct reader_options *options;
    struct input_file *files;
    size_t count, capacity;
    uint64_t total_bytes; /* 0 when a pipe is among them */
    uint64_t text_bytes;  /* about, unpacked */
    char **skipped;       /* messages */
    size_t skipped_count, skipped_capacity;
};

/* About how much text a file has, by what text usually packs to: for predictions only. */
uint64_t input_text_bytes(const char *path, uint64_t file_bytes);

cog_status input_files_list(const struct reader_options *options, const char *const *paths,
                            size_t count, struct input_files *files, cog_error *error);
void input_files_free(struct input_files *files);
/* Remembers that something was passed over, and why (errno's text). */
cog_status input_files_skip(struct input_files *files, const char *path, const char *why,
                            cog_error *error);

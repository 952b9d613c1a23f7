/* The input files of a job and their bytes. In: paths of files and folders. Out: a list of files
 * (folders are walked in byte order of names; formats follow from extensions) and the bytes of one
 * file after another, decompressed if their first bytes show a compressed format. Input from a pipe
 * can be copied to a scratch file on the way, so that it can be read again. */
#pragma once

#include "base/error.h"
#include "base/hash.h"
#include "base/io/compression.h"
#include "input/documents/csv_row.h"
#include "input/documents/query_log.h"
#include "input/reader.h"

#include <stdatomic.h>

/* What a record is made of, and how the options name it; NULL: not wanted. */
enum document_field { FIELD_TEXT, FIELD_ID, FIELD_LANG, FIELD_EXTRA, DOCUMENT_FIELDS };
static inline const char *field_name(const struct reader_options *options,
                                     enum document_field field) {
    const char *const names[DOCUMENT_FIELDS] = {options->text_field, options->id_field,
                                                options->lang_field, options->extra_field};
    return names[field];
}

/* The columns of a table that hold the fields; CSV_NO_COLUMN: none does. */
#define CSV_NO_COLUMN SIZE_MAX
struct csv_columns {
    size_t count;
    size_t of_field[DOCUMENT_FIELDS];
    bool has_added; /* the column that the job adds */
};

struct input_file {
    char *path;               /* as passed to open; "-" is standard input */
    char *name;               /* as used in ids: valid UTF-8 */
    enum input_format format; /* INPUT_AUTO until the first bytes of a stream are known */
    bool is_guessed;          /* the format is guessed from the first bytes */
    bool lines;               /* txt: each line is a document */
    bool is_array;            /* jsonl: the file is one JSON array (known from its first byte) */
    bool optional;            /* found in a folder: skipped when it cannot be opened */
    bool skipped;
    bool read_once; /* has been opened in an earlier pass */
    bool is_pipe;
    bool is_memory;  /* no file: the rows of a query log in memory */
    bool has_digest; /* an earlier pass has read all of it */
    uint64_t digest;
    int64_t start_offset;    /* of standard input when it is a regular file */
    int spool;               /* a copy of the pipe's bytes for the next pass, or -1 */
    struct buffer header;    /* bytes before the first record of csv, tsv, wikixml, arrays */
    struct buffer separator; /* arrays: the bytes between two elements */
    bool header_is_complete;
    struct buffer namespaces; /* wikixml: links to these are dropped, for wiki_strip */
    struct csv_form form;     /* csv, tsv */
    struct csv_columns columns;
    enum query_columns query_columns;
};

struct input_files {
    const struct reader_options *options;
    struct input_file *files;
    size_t count, capacity;
    uint64_t total_bytes; /* 0 if one of them is a pipe */
    uint64_t text_bytes;  /* approximate, uncompressed */
    char **skipped;       /* messages */
    size_t skipped_count, skipped_capacity;
};

/* Approximate text size of a file, by the usual compression ratio of text: for predictions only. */
uint64_t input_text_bytes(const char *path, uint64_t file_bytes);

cog_status input_files_list(const struct reader_options *options, const char *const *paths,
                            size_t count, struct input_files *files, cog_error *error);
/* One entry for a query log of `bytes` bytes in memory; its path is what rows are called. */
cog_status input_files_of_log(uint64_t bytes, struct input_files *files, cog_error *error);
void input_files_free(struct input_files *files);
/* Records that something was skipped, and why (errno's text). */
cog_status input_files_skip(struct input_files *files, const char *path, const char *why,
                            cog_error *error);

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Zero-initialise with descriptor -1; byte_source_free releases. */
struct byte_source {
    int descriptor;
    bool owns_descriptor;
    int spool; /* descriptor of the scratch file that receives a copy, or -1 */
    const char *name;
    struct codec *decompressor; /* NULL for plain bytes */
    char *buffer;               /* bytes as stored in the file */
    struct bytes_view pending;  /* the part of the buffer that has not been consumed */
    bool ended;                 /* the file has no more */
    bool has_digest;            /* hash the bytes of each file as they are read (80 ps per byte) */
    XXH64_state_t digest;       /* of this file's bytes so far, as stored */
    atomic_uint_fast64_t raw_bytes; /* read so far, over all files */
};

/* Starts on an open descriptor; `name` is borrowed until byte_source_stop. Fails if the name's
 * extension promises a compression that the bytes do not have. */
cog_status byte_source_start(struct byte_source *source, int descriptor, bool owns_descriptor,
                             const char *name, int spool, cog_error *error);
/* Up to `size` bytes; *got is 0 only at the end of the file. */
cog_status byte_source_read(struct byte_source *source, char *data, size_t size, size_t *got,
                            cog_error *error);
/* Reads the rest, so that the scratch file has all of it. */
cog_status byte_source_drain(struct byte_source *source, cog_error *error);
void byte_source_stop(struct byte_source *source);
void byte_source_free(struct byte_source *source);

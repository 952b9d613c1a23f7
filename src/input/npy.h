/* Signatures and weights as numpy files: uint8 [rows, bits / 8] as numpy.packbits writes them, and
 * float32 [rows, bits]. Reads format versions 1 and 2, little-endian, C order; anything else is
 * refused with the reason. Writing streams: the number of rows is filled into the header at the
 * end. */
#pragma once

#include "base/io/files.h"
#include "hamming/hamming.h"

enum npy_type { NPY_UINT8, NPY_FLOAT32 };

/* A mapped array. Zero-initialise; npy_close releases. */
struct npy_array {
    struct mapping mapping;
    enum npy_type type;
    size_t rows, columns;
    const uint8_t *data; /* in the mapping; numpy aligns it to 64 bytes, other writers may not */
};
/* "-" is standard input. Compressed files and pipes are unpacked into a scratch file in TMPDIR. */
cog_status npy_open(const char *path, enum npy_type type, struct npy_array *array,
                    cog_error *error);
void npy_close(struct npy_array *array);
/* The same for bytes in memory, which the caller keeps alive; `name` appears in messages. */
cog_status npy_parse(const char *name, const uint8_t *data, size_t size, enum npy_type type,
                     struct npy_array *array, cog_error *error);

/* The signatures of a file as rows of whole words: borrowed from the mapping if their width is a
 * multiple of 64, otherwise a padded copy. Zero-initialise; npy_signatures_close releases. */
struct npy_signatures {
    struct npy_array array;
    uint8_t *copy;
    struct signatures_view view;
};
cog_status npy_signatures_open(const char *path, struct npy_signatures *signatures,
                               cog_error *error);
void npy_signatures_close(struct npy_signatures *signatures);

/* The handle of the public API. Signatures from the caller's memory use only copy and view. */
struct cog_signatures {
    struct npy_signatures file;
};

struct npy_writer;
/* "-" is standard output: rows are then kept in a scratch file until their number is known. */
cog_status npy_writer_open(const char *path, enum npy_type type, size_t columns,
                           struct npy_writer **writer, cog_error *error);
cog_status npy_writer_append(struct npy_writer *writer, const void *rows, size_t row_count,
                             cog_error *error);
cog_status npy_writer_commit(struct npy_writer *writer, cog_error *error);
/* Without a commit, nothing is left. Accepts NULL. */
void npy_writer_close(struct npy_writer *writer);

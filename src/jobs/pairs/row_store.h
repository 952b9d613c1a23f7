/* Rows of a collection on disk, in scratch files in TMPDIR that are deleted with the store: terms
 * of documents, vectors, signatures and margins. Blocks of rows are read back into memory. Disk:
 * nine bytes per term, eight per entry of a vector, plus the signatures and margins if made.
 * Memory: eight bytes per row. */
#pragma once

#include "collection/bag_spool.h"
#include "collection/corpus.h"
#include "hamming/hamming.h"

/* Use row_store_open and row_store_close. */
struct row_store {
    struct bag_spool *bags;
    int vectors, signatures, margins; /* files; -1: not made */
    const uint64_t *offsets;          /* by row: entries of the vectors before it. Borrowed. */
    uint32_t column_count;
    unsigned bits;
    size_t margins_per_row;
    struct buffer buffer;
};

/* Creates the files for terms and vectors. Close also after an error. */
cog_status row_store_open(struct row_store *store, cog_error *error);
void row_store_close(struct row_store *store);

/* Appends the vectors of the next rows; first_entry is the number of entries before them. */
cog_status row_store_add_vectors(struct row_store *store, const struct sparse_matrix *matrix,
                                 uint64_t first_entry, cog_error *error);
/* The vectors of some rows in any order. *matrix must be zeroed; the caller frees it. */
cog_status row_store_vectors(struct row_store *store, const uint32_t *rows, size_t count,
                             struct sparse_matrix *matrix, cog_error *error);
/* Appends the terms of some rows, in ascending order, to the corpus. */
cog_status row_store_bags(struct row_store *store, const uint32_t *rows, size_t count,
                          struct corpus *corpus, cog_error *error);

/* Signatures are stored in the order of the compared rows; `place` is a position among them. */
cog_status row_store_sign_begin(struct row_store *store, unsigned bits, size_t margins_per_row,
                                cog_error *error);
cog_status row_store_add_signatures(struct row_store *store, size_t place, size_t count,
                                    const uint8_t *signatures, const float *margins,
                                    cog_error *error);
/* free() the data of the view and the margins, also after an error; *margins stays NULL without
 * margins. */
cog_status row_store_signatures(struct row_store *store, size_t place, size_t count,
                                struct signatures_view *view, float **margins, cog_error *error);
/* The size on disk. */
uint64_t row_store_disk_bytes(const struct row_store *store, size_t rows, size_t compared);

/* Vectors that do not fit into memory: the entries of a matrix in two scratch files in TMPDIR,
 * appended piece by piece, then read in blocks, or mapped. The files vanish with the struct; eight
 * bytes per entry on disk. Pages of a mapping that were touched count as resident until it is
 * closed, although they give way to others: what has to keep a budget reads. */
#pragma once

#include "base/io/files.h"
#include "vector/sparse.h"

/* vector_files_open, vector_files_close. */
struct vector_files {
    bool are_open;
    int files[2]; /* columns, values */
    struct mapping mappings[2];
};
/* Close also after an error. */
cog_status vector_files_open(struct vector_files *vectors, cog_error *error);
/* Entries behind those that are there. */
cog_status vector_files_add(struct vector_files *vectors, const uint32_t *columns,
                            const float *values, size_t count, cog_error *error);
/* The matrix, whose offsets are complete, borrows its entries from the files. */
cog_status vector_files_lend(struct vector_files *vectors, struct sparse_matrix *matrix,
                             cog_error *error);
/* Reads `count` entries from entry `first` on; nothing stays mapped or resident. */
cog_status vector_files_read(const struct vector_files *vectors, uint64_t first, size_t count,
                             uint32_t *columns, float *values, cog_error *error);
/* Accepts a zeroed struct. Takes the entries from the matrix that borrowed them. */
void vector_files_close(struct vector_files *vectors, struct sparse_matrix *matrix);

/* Vectors that do not fit into memory: the entries of a matrix in two scratch files in TMPDIR,
 * appended piece by piece, then mapped for reading. The files vanish with the struct; eight bytes
 * per entry on disk. What was read of a mapping is the system's file cache, which gives way to
 * others: it is no memory of the job. */
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
/* Accepts a zeroed struct. Takes the entries from the matrix that borrowed them. */
void vector_files_close(struct vector_files *vectors, struct sparse_matrix *matrix);

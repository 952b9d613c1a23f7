/* Vectors that do not fit in memory: the entries of a matrix in two scratch files in TMPDIR,
 * appended piece by piece, then read in blocks or mapped. The files are deleted with the struct.
 * Eight bytes per entry on disk. Touched pages of a mapping count as resident memory until it is
 * closed, so code within a budget must read blocks or guard the mapping. */
#pragma once

#include "base/io/files.h"
#include "base/threads.h"
#include "vector/sparse.h"

/* Use vector_files_open and vector_files_close. */
struct vector_files {
    bool are_open;
    int files[2]; /* columns, values */
    struct mapping mappings[2];
};
/* Close also after an error. */
cog_status vector_files_open(struct vector_files *vectors, cog_error *error);
/* Appends entries. */
cog_status vector_files_add(struct vector_files *vectors, const uint32_t *columns,
                            const float *values, size_t count, cog_error *error);
/* The matrix, whose offsets must be complete, borrows its entries from the files. */
cog_status vector_files_lend(struct vector_files *vectors, struct sparse_matrix *matrix,
                             cog_error *error);
/* Reads `count` entries from entry `first` on; nothing stays mapped or resident. */
cog_status vector_files_read(const struct vector_files *vectors, uint64_t first, size_t count,
                             uint32_t *columns, float *values, cog_error *error);
/* Accepts a zeroed struct. Removes the borrowed entries from the matrix. */
void vector_files_close(struct vector_files *vectors, struct sparse_matrix *matrix);

/* Between start and end, parallel loops started by the calling thread drop the mapped pages of both
 * sides from resident memory whenever the process comes near the budget (0: none). The pages stay
 * in the system's file cache, so reading them again costs a page fault, not a disk read. The guard
 * must not move in between. */
struct vector_guard {
    struct threads_watch watch;
    const struct vector_files *sides; /* two; borrowed */
    uint64_t most_bytes;
    uint64_t next_ns; /* atomic; time of the next check of resident memory */
};
void vector_guard_start(struct vector_guard *guard, const struct vector_files sides[2],
                        uint64_t memory_bytes);
void vector_guard_end(struct vector_guard *guard);

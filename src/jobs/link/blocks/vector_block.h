/* Some rows of one side of a link_space: lent where the vectors are in memory, read where they are
 * on disk. Whoever goes through a side block by block holds no more of it than a block, also in
 * resident memory, which mapped files would fill. How a side is divided depends on its rows alone:
 * what is found by blocks is the same from memory and from disk. */
#pragma once

#include "jobs/link/link_space.h"

/* The entries of a block, at most, unless one row has more. The same for every budget; a test may
 * want small blocks (0: the usual ones). */
size_t vector_block_entries(void);
void vector_block_set_entries(size_t entries);

/* Zero-initialise; vector_block_load as often as needed, vector_block_free. */
struct vector_block {
    size_t first;              /* row of the side */
    struct sparse_matrix rows; /* owned if they were read */
    bool is_read;
    size_t row_capacity, entry_capacity;
};

/* How many rows the block that begins with this row has, of `entries` entries. */
size_t vector_block_rows(const struct sparse_matrix *vectors, size_t first, size_t entries);
cog_status vector_block_load(struct vector_block *block, const struct link_space *space, int side,
                             size_t first, size_t count, cog_error *error);
void vector_block_free(struct vector_block *block);
/* What the largest block of a side takes; 0 where blocks are lent. */
uint64_t vector_block_memory_bytes(const struct link_space *space, int side, size_t entries);

/* Copies of the listed rows, in their order. The caller frees the matrix, also after an error. */
cog_status vector_rows_copy(const struct link_space *space, int side, const uint32_t *rows,
                            size_t count, struct sparse_matrix *copy, cog_error *error);

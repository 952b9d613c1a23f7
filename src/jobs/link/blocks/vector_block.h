/* Some rows of one side of a link_space: borrowed if the vectors are in memory, read if they are on
 * disk. A caller that processes a side block by block holds at most a block, also in resident
 * memory, which mapped files would fill. The division of a side depends only on its rows, so
 * results by blocks are the same from memory and from disk. */
#pragma once

#include "jobs/link/link_space.h"

/* The maximum number of entries of a block, unless one row has more. The same for every budget;
 * tests may set small blocks (0: the default). */
size_t vector_block_entries(void);
void vector_block_set_entries(size_t entries);

/* Zero-initialise; call vector_block_load any number of times, then vector_block_free. */
struct vector_block {
    size_t first;              /* row of the side */
    struct sparse_matrix rows; /* owned if read from disk */
    bool is_read;
    size_t row_capacity, entry_capacity;
};

/* The number of rows of the block that starts at this row, with up to `entries` entries. */
size_t vector_block_rows(const struct sparse_matrix *vectors, size_t first, size_t entries);
cog_status vector_block_load(struct vector_block *block, const struct link_space *space, int side,
                             size_t first, size_t count, cog_error *error);
void vector_block_free(struct vector_block *block);
/* The memory of a side's largest block; 0 if blocks are borrowed. */
uint64_t vector_block_memory_bytes(const struct link_space *space, int side, size_t entries);

/* Copies the listed rows, in their order. The caller frees the matrix, also after an error. */
cog_status vector_rows_copy(const struct link_space *space, int side, const uint32_t *rows,
                            size_t count, struct sparse_matrix *copy, cog_error *error);

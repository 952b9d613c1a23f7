#include "jobs/link/blocks/vector_block.h"

#include <stdlib.h>

#include "base/memory.h"

enum { BLOCK_ENTRIES = 1 << 23 };
static size_t block_entries = BLOCK_ENTRIES;

size_t vector_block_entries(void) {
    return block_entries;
}

void vector_block_set_entries(size_t entries) {
    block_entries = entries ? entries : (size_t)BLOCK_ENTRIES;
}

size_t vector_block_rows(const struct sparse_matrix *vectors, size_t first, size_t entries) {
    size_t end;
    const uint64_t most = vectors->offsets[first] + entries;
    FIND_FIRST_NOT(end, first, vectors->rows, vectors->offsets[end + 1] <= most);
    return end > first ? end - first : (size_t)(first < vectors->rows);
}

static void lend_rows(struct vector_block *block, const struct sparse_matrix *vectors, size_t first,
                      size_t count) {
    block->rows = (struct sparse_matrix){.rows = count,
                                         .column_count = vectors->column_count,
                                         .offsets = vectors->offsets + first,
                                         .columns = vectors->columns,
                                         .values = vectors->values};
}

/* Allocates exactly the memory for the rows, and fills their offsets, which start at 0. */
static cog_status make_room(struct vector_block *block, const struct sparse_matrix *vectors,
                            size_t first, size_t count, cog_error *error) {
    const uint64_t *offsets = vectors->offsets + first;
    struct sparse_matrix *rows = &block->rows;
    size_t entries = (size_t)(offsets[count] - offsets[0]);
    if (count > block->row_capacity || entries > block->entry_capacity) {
        sparse_matrix_free(rows);
        block->row_capacity = block->entry_capacity = 0;
        TAKE(rows->offsets, count + 1, "vectors", error);
        TAKE(rows->columns, entries, "vectors", error);
        TAKE(rows->values, entries, "vectors", error);
        block->row_capacity = count;
        block->entry_capacity = entries;
    }
    for (size_t i = 0; i <= count; i++)
        rows->offsets[i] = offsets[i] - offsets[0];
    rows->rows = count;
    rows->column_count = vectors->column_count;
    return COG_OK;
}

cog_status vector_block_load(struct vector_block *block, const struct link_space *space, int side,
                             size_t first, size_t count, cog_error *error) {
    const struct sparse_matrix *vectors = &space->vectors[side];
    block->first = first;
    block->is_read = space->is_on_disk;
    if (!block->is_read) {
        lend_rows(block, vectors, first, count);
        return COG_OK;
    }
    TRY(make_room(block, vectors, first, count, error));
    return vector_files_read(&space->files[side], vectors->offsets[first],
                             block->rows.offsets[count], block->rows.columns, block->rows.values,
                             error);
}

void vector_block_free(struct vector_block *block) {
    if (block->is_read)
        sparse_matrix_free(&block->rows);
    *block = (struct vector_block){0};
}

uint64_t vector_block_memory_bytes(const struct link_space *space, int side, size_t entries) {
    const struct sparse_matrix *vectors = &space->vectors[side];
    if (!space->is_on_disk || !vectors->offsets)
        return 0;
    uint64_t all = vectors->offsets[vectors->rows], used = all < entries ? all : entries;
    uint64_t rows = all ? (uint64_t)((double)vectors->rows * (double)used / (double)all) : 0;
    return used * (sizeof *vectors->columns + sizeof *vectors->values) +
           rows * sizeof *vectors->offsets;
}

cog_status vector_rows_copy(const struct link_space *space, int side, const uint32_t *rows,
                            size_t count, struct sparse_matrix *copy, cog_error *error) {
    const struct sparse_matrix *vectors = &space->vectors[side];
    if (!space->is_on_disk)
        return sparse_matrix_select(vectors, rows, count, copy)
                   ? COG_OK
                   : error_memory(error, count, "a sample");
    copy->rows = count;
    copy->column_count = vectors->column_count;
    TAKE_ZEROED(copy->offsets, count + 1, "a sample", error);
    for (size_t i = 0; i < count; i++)
        copy->offsets[i + 1] =
            copy->offsets[i] + vectors->offsets[rows[i] + 1] - vectors->offsets[rows[i]];
    TAKE(copy->columns, copy->offsets[count], "a sample", error);
    TAKE(copy->values, copy->offsets[count], "a sample", error);
    for (size_t i = 0; i < count; i++)
        TRY(vector_files_read(
            &space->files[side], vectors->offsets[rows[i]], copy->offsets[i + 1] - copy->offsets[i],
            copy->columns + copy->offsets[i], copy->values + copy->offsets[i], error));
    return COG_OK;
}

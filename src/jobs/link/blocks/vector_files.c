#include "jobs/link/blocks/vector_files.h"

#include <unistd.h>

#include "base/io/output.h"

static const char *const file_name = "scratch file in TMPDIR";

cog_status vector_files_open(struct vector_files *vectors, cog_error *error) {
    *vectors = (struct vector_files){.are_open = true, .files = {-1, -1}};
    for (int i = 0; i < 2; i++) {
        vectors->files[i] = scratch_file_open(error);
        if (vectors->files[i] < 0)
            return COG_ERR_IO;
    }
    return COG_OK;
}

cog_status vector_files_add(struct vector_files *vectors, const uint32_t *columns,
                            const float *values, size_t count, cog_error *error) {
    TRY(descriptor_write(vectors->files[0], columns, count * sizeof *columns, file_name, error));
    return descriptor_write(vectors->files[1], values, count * sizeof *values, file_name, error);
}

cog_status vector_files_lend(struct vector_files *vectors, struct sparse_matrix *matrix,
                             cog_error *error) {
    if (matrix->offsets[matrix->rows] == 0)
        return COG_OK;
    for (int i = 0; i < 2; i++)
        TRY(mapping_of_descriptor(vectors->files[i], file_name, &vectors->mappings[i], error));
    matrix->columns = (uint32_t *)(void *)vectors->mappings[0].data;
    matrix->values = (float *)(void *)vectors->mappings[1].data;
    return COG_OK;
}

cog_status vector_files_read(const struct vector_files *vectors, uint64_t first, size_t count,
                             uint32_t *columns, float *values, cog_error *error) {
    if (!count)
        return COG_OK;
    TRY(descriptor_read_at(vectors->files[0], columns, count * sizeof *columns,
                           first * sizeof *columns, file_name, error));
    return descriptor_read_at(vectors->files[1], values, count * sizeof *values,
                              first * sizeof *values, file_name, error);
}

void vector_files_close(struct vector_files *vectors, struct sparse_matrix *matrix) {
    if (!vectors->are_open)
        return;
    matrix->columns = NULL;
    matrix->values = NULL;
    for (int i = 0; i < 2; i++) {
        mapping_close(&vectors->mappings[i]);
        if (vectors->files[i] >= 0)
            close(vectors->files[i]);
    }
    *vectors = (struct vector_files){0};
}

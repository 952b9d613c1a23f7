#include "jobs/pairs/row_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"

enum { ENTRY_BYTES = sizeof(uint32_t) + sizeof(float), READ_BYTES = 1 << 18 };

static const char *const file_name = "scratch file in TMPDIR";

cog_status row_store_open(struct row_store *store, cog_error *error) {
    *store = (struct row_store){.vectors = -1, .signatures = -1, .margins = -1};
    TRY(bag_spool_create("-", &store->bags, error));
    return scratch_file_open(&store->vectors, error);
}

void row_store_close(struct row_store *store) {
    const int files[] = {store->vectors, store->signatures, store->margins};
    if (!store->bags) /* never opened */
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    bag_spool_free(store->bags);
    buffer_free(&store->buffer);
    *store = (struct row_store){0};
}

static cog_status make_room(struct row_store *store, size_t size_bytes, cog_error *error) {
    buffer_reset(&store->buffer);
    return buffer_reserve(&store->buffer, size_bytes)
               ? COG_OK
               : error_memory(error, size_bytes, "rows on their way to disk");
}

/* ---- Vectors ---------------------------------------------------------------------------------
 *
 * A row in the file: its columns, then its values. */

static size_t entries_of(const uint64_t *offsets, size_t row) {
    return (size_t)(offsets[row + 1] - offsets[row]);
}

cog_status row_store_add_vectors(struct row_store *store, const struct sparse_matrix *matrix,
                                 uint64_t first_entry, cog_error *error) {
    const size_t total = (size_t)matrix->offsets[matrix->rows];
    TRY(make_room(store, total * ENTRY_BYTES, error));
    char *to = store->buffer.data;
    for (size_t row = 0; row < matrix->rows; row++) {
        const size_t count = entries_of(matrix->offsets, row), half = count * ENTRY_BYTES / 2;
        if (count == 0)
            continue;
        memcpy(to, matrix->columns + matrix->offsets[row], half);
        memcpy(to + half, matrix->values + matrix->offsets[row], half);
        to += 2 * half;
    }
    return descriptor_write_at(store->vectors, store->buffer.data, total * ENTRY_BYTES,
                               first_entry * ENTRY_BYTES, file_name, error);
}

static cog_status take_matrix(const struct row_store *store, const uint32_t *rows, size_t count,
                              struct sparse_matrix *matrix, cog_error *error) {
    TAKE(matrix->offsets, count + 1, "vectors", error);
    matrix->rows = count;
    matrix->column_count = store->column_count;
    matrix->offsets[0] = 0;
    for (size_t i = 0; i < count; i++)
        matrix->offsets[i + 1] = matrix->offsets[i] + entries_of(store->offsets, rows[i]);
    TAKE(matrix->columns, matrix->offsets[count], "vectors", error);
    return TAKEN(matrix->values, matrix->offsets[count], "vectors", error);
}

/* The number of rows, from the first on, that are adjacent in the file and can be read at once. */
static size_t adjacent(const struct row_store *store, const uint32_t *rows, size_t count) {
    const uint64_t begin = store->offsets[rows[0]];
    size_t i = 1;
    while (i < count && store->offsets[rows[i]] == store->offsets[rows[i - 1] + 1] &&
           (store->offsets[rows[i] + 1] - begin) * ENTRY_BYTES <= READ_BYTES)
        i++;
    return i;
}

cog_status row_store_vectors(struct row_store *store, const uint32_t *rows, size_t count,
                             struct sparse_matrix *matrix, cog_error *error) {
    cog_status status = take_matrix(store, rows, count, matrix, error);
    for (size_t i = 0; i < count && status == COG_OK;) {
        const size_t end = i + adjacent(store, rows + i, count - i);
        const size_t size = (size_t)(matrix->offsets[end] - matrix->offsets[i]) * ENTRY_BYTES;
        status = make_room(store, size, error);
        THEN(status, descriptor_read_at(store->vectors, store->buffer.data, size,
                                        store->offsets[rows[i]] * ENTRY_BYTES, file_name, error));
        const char *from = store->buffer.data;
        for (; i < end && status == COG_OK; i++) {
            const size_t half = entries_of(matrix->offsets, i) * ENTRY_BYTES / 2;
            if (half == 0)
                continue;
            memcpy(matrix->columns + matrix->offsets[i], from, half);
            memcpy(matrix->values + matrix->offsets[i], from + half, half);
            from += 2 * half;
        }
    }
    return status;
}

/* ---- Terms ----------------------------------------------------------------------------------- */

cog_status row_store_bags(struct row_store *store, const uint32_t *rows, size_t count,
                          struct corpus *corpus, cog_error *error) {
    struct buffer batch = {0};
    cog_status status = COG_OK;
    for (size_t i = 0; i < count && status == COG_OK;) {
        bool end = false;
        size_t row = bag_spool_seek(store->bags, rows[i]);
        status = bag_spool_read(store->bags, &batch, &end, error);
        for (size_t at = 0; at < batch.size && i < count && status == COG_OK; row++) {
            struct bytes_view id;
            struct bag_view bag;
            bag_spool_decode(&batch, &at, &id, &bag);
            if (row == rows[i]) {
                status = corpus_add_bag(corpus, &bag, error);
                i++;
            }
        }
    }
    buffer_free(&batch);
    return status;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

cog_status row_store_sign_begin(struct row_store *store, unsigned bits, size_t margins_per_row,
                                cog_error *error) {
    store->bits = bits;
    store->margins_per_row = margins_per_row;
    TRY(scratch_file_open(&store->signatures, error));
    return margins_per_row ? scratch_file_open(&store->margins, error) : COG_OK;
}

cog_status row_store_add_signatures(struct row_store *store, size_t place, size_t count,
                                    const uint8_t *signatures, const float *margins,
                                    cog_error *error) {
    const size_t stride = signature_stride_bytes(store->bits);
    const size_t margin_bytes = store->margins_per_row * sizeof *margins;
    TRY(descriptor_write_at(store->signatures, signatures, count * stride, place * stride,
                            file_name, error));
    return margin_bytes ? descriptor_write_at(store->margins, margins, count * margin_bytes,
                                              place * margin_bytes, file_name, error)
                        : COG_OK;
}

cog_status row_store_signatures(struct row_store *store, size_t place, size_t count,
                                struct signatures_view *view, float **margins, cog_error *error) {
    const size_t stride = signature_stride_bytes(store->bits);
    const size_t margin_bytes = store->margins_per_row * sizeof **margins;
    uint8_t *data = memory_array(count, stride);
    *view = (struct signatures_view){data, count, store->bits, stride};
    if (!data)
        return error_memory(error, count * stride, "signatures");
    TRY(descriptor_read_at(store->signatures, data, count * stride, place * stride, file_name,
                           error));
    if (margin_bytes == 0)
        return COG_OK;
    *margins = memory_array(count, margin_bytes);
    if (!*margins)
        return error_memory(error, count * margin_bytes, "margins");
    return descriptor_read_at(store->margins, *margins, count * margin_bytes, place * margin_bytes,
                              file_name, error);
}

uint64_t row_store_disk_bytes(const struct row_store *store, size_t rows, size_t compared) {
    const uint64_t row_bytes = (store->signatures >= 0 ? signature_stride_bytes(store->bits) : 0) +
                               store->margins_per_row * sizeof(float);
    return bag_spool_size_bytes(store->bags) +
           (store->offsets ? store->offsets[rows] : 0) * ENTRY_BYTES + compared * row_bytes;
}

/* Rows of an index by number and by id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/index_handle.h"

size_t index_part_of(const cog_index *index, uint32_t row, uint64_t *first_row) {
    size_t part = 0;
    *first_row = 0;
    while (part + 1 < index->parts.manifest.count &&
           row - *first_row >= index->parts.manifest.entries[part].rows)
        *first_row += index->parts.manifest.entries[part++].rows;
    return part;
}

bool index_row_id(const cog_index *index, uint32_t row, struct bytes_view *id) {
    uint64_t first_row;
    size_t part = index_part_of(index, row, &first_row);
    return segment_id(&index->parts.segments[part], (size_t)(row - first_row), id);
}

bool index_row_vector(const cog_index *index, size_t part, uint32_t row, const uint32_t **columns,
                      const float **values, size_t *count) {
    const struct segment *segment = &index->parts.segments[part];
    const struct sparse_matrix *vectors = &segment->vectors;
    if (index->folder)
        return segment_vector(segment, row, columns, values, count);
    uint64_t begin = vectors->offsets[row];
    *columns = vectors->columns + begin;
    *values = vectors->values + begin;
    *count = (size_t)(vectors->offsets[row + 1] - begin);
    return true;
}

unsigned index_bits(const cog_index *index) {
    uint64_t bits = 0;
    settings_get_u64(&index->parts.manifest.settings, "bits", &bits);
    return (unsigned)bits;
}

int index_compare_ids(const void *a, const void *b) {
    const struct bytes_view *x = a, *y = b;
    size_t common = x->size < y->size ? x->size : y->size;
    int order = common ? memcmp(x->data, y->data, common) : 0;
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

cog_status index_find_ids(const cog_index *index, const struct bytes_view *ids, size_t count,
                          uint64_t *rows, cog_error *error) {
    uint64_t first = 0;
    for (size_t i = 0; i < count; i++)
        rows[i] = UINT64_MAX;
    if (count == 0)
        return COG_OK;
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        const struct segment *segment = &index->parts.segments[part];
        char text[24];
        for (uint32_t row = 0; row < entry->rows; row++) {
            struct bytes_view id;
            if (!segment->id_offsets) {
                int length = snprintf(text, sizeof text, "%llu", (unsigned long long)first + row);
                id = view_of(text, (size_t)length);
            } else if (!segment_id(segment, row, &id)) {
                return error_set(error, COG_ERR_FORMAT, "%s: the id of row %u is damaged",
                                 segment->container.path, row);
            }
            const struct bytes_view *place =
                bsearch(&id, ids, count, sizeof *ids, index_compare_ids);
            if (place && !manifest_is_removed(entry, row))
                rows[place - ids] = first + row;
        }
        first += entry->rows;
    }
    return COG_OK;
}

bool cog_index_find(const cog_index *index, const char *id, size_t id_size, uint32_t *row) {
    struct bytes_view view = view_of(id, id_size);
    uint64_t found = UINT64_MAX;
    if (index_find_ids(index, &view, 1, &found, NULL) != COG_OK || found == UINT64_MAX)
        return false;
    *row = (uint32_t)found;
    return true;
}

const char *cog_index_id(const cog_index *index, uint32_t row, size_t *size) {
    struct bytes_view id = {NULL, 0};
    bool known = index_row_id(index, row, &id);
    *size = id.size;
    return known ? id.data : NULL;
}

/* Rows of an index by number and by id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/index/index_handle.h"

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

/* Of rows that have their numbers for ids, the one that is called so. */
static uint64_t row_of_number(struct bytes_view id, uint64_t first, uint64_t rows) {
    uint64_t number = 0;
    enum { DIGITS_MAX = 10 }; /* of numbers below 2^32 */
    if (id.size == 0 || id.size > DIGITS_MAX || (id.data[0] == '0' && id.size > 1))
        return UINT64_MAX;
    for (size_t i = 0; i < id.size; i++) {
        if (id.data[i] < '0' || id.data[i] > '9')
            return UINT64_MAX;
        number = number * 10 + (uint64_t)(id.data[i] - '0');
    }
    return number >= first && number - first < rows ? number - first : UINT64_MAX;
}

/* The part's rows begin with number `first`. Fills the rows of ids that are found there. */
static cog_status find_in_part(const cog_index *index, size_t part, uint64_t first,
                               const struct bytes_view *ids, size_t count, uint64_t *rows,
                               cog_error *error) {
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    const struct segment *segment = &index->parts.segments[part];
    struct id_buckets built = {0}, buckets = segment->id_buckets;
    cog_status status = COG_OK;
    if (segment->id_offsets && !buckets.starts) {
        status = id_buckets_build(segment, &built, error);
        buckets = built;
    }
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        uint64_t row = UINT64_MAX;
        if (!segment->id_offsets)
            row = row_of_number(ids[i], first, entry->rows);
        else if (rows[i] == UINT64_MAX)
            status = id_buckets_find(&buckets, segment, ids[i], &row, error);
        if (status == COG_OK && row != UINT64_MAX && !manifest_is_removed(entry, (uint32_t)row))
            rows[i] = first + row;
    }
    id_buckets_free(&built);
    return status;
}

cog_status index_find_ids(const cog_index *index, const struct bytes_view *ids, size_t count,
                          uint64_t *rows, cog_error *error) {
    uint64_t first = 0;
    cog_status status = COG_OK;
    for (size_t i = 0; i < count; i++)
        rows[i] = UINT64_MAX;
    if (count == 0)
        return COG_OK;
    for (size_t part = 0; part < index->parts.manifest.count && status == COG_OK; part++) {
        status = find_in_part(index, part, first, ids, count, rows, error);
        first += index->parts.manifest.entries[part].rows;
    }
    return status;
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

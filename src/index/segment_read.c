#include <string.h>

#include "base/numbers.h"
#include "index/segment.h"
#include "index/segment_sections.h"
#include "search/bphs/bphs_method.h"
#include "search/psm/psm_method.h"

/* Finds a section that must hold `count` elements of size_bytes. */
static cog_status find_array(const struct container *container, uint32_t kind, uint64_t count,
                             size_t size_bytes, const void **data, cog_error *error) {
    struct bytes_view view;
    TRY(container_require(container, kind, &view, error));
    if (view.size % size_bytes != 0 || view.size / size_bytes != count) {
        char name[5];
        container_tag_text(kind, name);
        return error_set(error, COG_ERR_FORMAT,
                         "%s: section \"%s\" has %zu bytes, its shape asks for %llu of %zu each",
                         container->path, name, view.size, (unsigned long long)count, size_bytes);
    }
    *data = view.data;
    return COG_OK;
}

/* Files of the first writers have ids without a table. */
static cog_status open_id_buckets(struct segment *segment, cog_error *error) {
    struct bytes_view view;
    const void *starts = NULL, *entries = NULL;
    if (!container_find(&segment->container, SECTION_ID_STARTS, &view))
        return COG_OK;
    cog_status status =
        find_array(&segment->container, SECTION_ID_STARTS, id_buckets_count(segment->rows) + 1,
                   sizeof(uint32_t), &starts, error);
    THEN(status, find_array(&segment->container, SECTION_ID_ENTRIES, segment->rows, ID_ENTRY_BYTES,
                            &entries, error));
    if (status == COG_OK)
        segment->id_buckets = (struct id_buckets){(uint32_t *)starts, (uint8_t *)entries};
    return status;
}

static cog_status open_ids(struct segment *segment, cog_error *error) {
    const void *offsets = NULL;
    if (!container_find(&segment->container, SECTION_ID_BYTES, &segment->id_bytes))
        return COG_OK;
    cog_status status = find_array(&segment->container, SECTION_ID_OFFSETS, segment->rows + 1,
                                   sizeof(uint64_t), &offsets, error);
    segment->id_offsets = offsets;
    return status == COG_OK ? open_id_buckets(segment, error) : status;
}

static cog_status open_signatures(struct segment *segment, const uint8_t *shape, cog_error *error) {
    uint32_t bits = decode_u32(shape + SHAPE_BITS), stride = decode_u32(shape + SHAPE_STRIDE);
    if (bits == 0)
        return COG_OK;
    if (stride != signature_stride_bytes(bits))
        return error_set(error, COG_ERR_FORMAT, "%s: rows of %u bytes for signatures of %u bits",
                         segment->container.path, stride, bits);
    const void *data = NULL;
    cog_status status =
        find_array(&segment->container, SECTION_SIGNATURES, segment->rows, stride, &data, error);
    if (status == COG_OK)
        segment->signatures = (struct signatures_view){data, segment->rows, bits, stride};
    return status;
}

static cog_status open_slices(struct segment *segment, const uint8_t *shape, cog_error *error) {
    uint32_t width = decode_u32(shape + SHAPE_SLICE_WIDTH), bits = segment->signatures.bits;
    if (width == 0)
        return COG_OK;
    if (width > SLICE_WIDTH_MAX || width > bits || (bits + width - 1) / width > SLICE_COUNT_MAX)
        return error_set(error, COG_ERR_FORMAT, "%s: slices of %u bits in signatures of %u bits",
                         segment->container.path, width, bits);
    struct slice_layout layout = slice_layout_of(bits, width);
    const void *offsets = NULL, *postings = NULL;
    cog_status status =
        find_array(&segment->container, SECTION_SLICE_OFFSETS, slice_layout_offsets(&layout),
                   sizeof(uint32_t), &offsets, error);
    THEN(status,
         find_array(&segment->container, SECTION_SLICE_POSTINGS,
                    (uint64_t)layout.count * segment->rows, sizeof(uint32_t), &postings, error));
    if (status == COG_OK)
        segment->slices = (struct slices_view){layout, segment->rows, offsets, postings};
    return status;
}

/* The numbers of clusters and groups are those that fill their sections. */
static cog_status open_clusters(struct segment *segment, struct clusters_view *clusters,
                                cog_error *error) {
    const struct container *container = &segment->container;
    struct bytes_view ends_view, order_view;
    const void *order = NULL, *ends = NULL, *shares = NULL;
    cog_status status = container_require(container, SECTION_CLUSTER_ENDS, &ends_view, error);
    THEN(status, container_require(container, SECTION_CLUSTER_ORDER, &order_view, error));
    if (status != COG_OK)
        return status;
    size_t count = ends_view.size / sizeof(uint32_t),
           group_bytes = CLUSTER_GROUP * sizeof(uint32_t);
    size_t groups = order_view.size / group_bytes,
           stride = cluster_stride(segment->signatures.bits);
    status = find_array(container, SECTION_CLUSTER_ENDS, count, sizeof(uint32_t), &ends, error);
    THEN(status, find_array(container, SECTION_CLUSTER_ORDER, groups, group_bytes, &order, error));
    THEN(status, find_array(container, SECTION_CLUSTER_SHARES, count, stride, &shares, error));
    if (status == COG_OK)
        *clusters = (struct clusters_view){
            order, ends, shares, count, groups, segment->rows, segment->signatures.bits};
    return status;
}

static cog_status open_columns(struct segment *segment, cog_error *error) {
    struct bytes_view view;
    struct clusters_view clusters = {0};
    const void *words = NULL;
    unsigned bits = segment->signatures.bits;
    if (!bits || !container_find(&segment->container, SECTION_COLUMN_GROUPS, &view))
        return COG_OK;
    if (bits > HAMMING_MAX_BITS)
        return error_set(error, COG_ERR_FORMAT, "%s: columns of signatures of %u bits",
                         segment->container.path, bits);
    cog_status status = open_clusters(segment, &clusters, error);
    THEN(status, find_array(&segment->container, SECTION_COLUMN_GROUPS,
                            columns_size_bytes(clusters.groups, bits), 1, &words, error));
    if (status == COG_OK)
        segment->columns = (struct columns_view){words, clusters};
    return status;
}

static cog_status open_vectors(struct segment *segment, const uint8_t *shape, cog_error *error) {
    struct bytes_view view;
    uint64_t entries = decode_u64(shape + SHAPE_ENTRIES);
    const void *offsets = NULL, *columns = NULL, *values = NULL;
    if (!container_find(&segment->container, SECTION_VECTOR_OFFSETS, &view))
        return COG_OK;
    cog_status status = find_array(&segment->container, SECTION_VECTOR_OFFSETS, segment->rows + 1,
                                   sizeof(uint64_t), &offsets, error);
    THEN(status, find_array(&segment->container, SECTION_VECTOR_COLUMNS, entries, sizeof(uint32_t),
                            &columns, error));
    THEN(status, find_array(&segment->container, SECTION_VECTOR_VALUES, entries, sizeof(float),
                            &values, error));
    if (status == COG_OK)
        segment->vectors =
            (struct sparse_matrix){segment->rows, decode_u32(shape + SHAPE_COLUMNS),
                                   (uint64_t *)offsets, (uint32_t *)columns, (float *)values};
    return status;
}

/* The tables of a method that has some in the file. */
static cog_status open_tables(struct segment *segment, cog_error *error) {
    const struct search_method *const methods[] = {&psm_method, &bphs_method};
    const struct method_rows rows = {.signatures = &segment->signatures};
    for (size_t i = 0; i < 2 && !segment->tables; i++) {
        segment->method = methods[i];
        TRY(methods[i]->open(&segment->container, &rows, &segment->opened_tables, error));
        segment->tables = segment->opened_tables;
    }
    return COG_OK;
}

static cog_status open_parts(struct segment *segment, cog_error *error) {
    const void *shape = NULL;
    cog_status status =
        find_array(&segment->container, SECTION_SHAPE, SHAPE_BYTES, 1, &shape, error);
    if (status != COG_OK)
        return status;
    uint64_t rows = decode_u64((const uint8_t *)shape + SHAPE_ROWS);
    if (rows > UINT32_MAX)
        return error_set(error, COG_ERR_FORMAT, "%s: %llu rows are more than a segment holds",
                         segment->container.path, (unsigned long long)rows);
    segment->rows = (size_t)rows;
    status = settings_read(&segment->container, &segment->settings, error);
    THEN(status, open_ids(segment, error));
    THEN(status, open_signatures(segment, shape, error));
    THEN(status, open_slices(segment, shape, error));
    THEN(status, open_columns(segment, error));
    THEN(status, open_tables(segment, error));
    THEN(status, open_vectors(segment, shape, error));
    return status;
}

static cog_status finish_opening(struct segment *segment, cog_status status, cog_error *error) {
    THEN(status, open_parts(segment, error));
    if (status != COG_OK)
        segment_close(segment);
    return status;
}

cog_status segment_open(const char *path, struct segment *segment, cog_error *error) {
    *segment = (struct segment){0};
    cog_status status = container_open(path, CONTAINER_SEGMENT, &segment->container, error);
    return finish_opening(segment, status, error);
}

cog_status segment_open_memory(const char *name, const void *data, size_t size,
                               struct segment *segment, cog_error *error) {
    *segment = (struct segment){0};
    cog_status status =
        container_open_memory(name, data, size, CONTAINER_SEGMENT, &segment->container, error);
    return finish_opening(segment, status, error);
}

bool segment_id(const struct segment *segment, size_t row, struct bytes_view *id) {
    if (!segment->id_offsets || row >= segment->rows)
        return false;
    uint64_t begin = segment->id_offsets[row], end = segment->id_offsets[row + 1];
    if (begin > end || end > segment->id_bytes.size)
        return false;
    *id = view_of(segment->id_bytes.data + begin, (size_t)(end - begin));
    return true;
}

bool segment_vector(const struct segment *segment, size_t row, const uint32_t **columns,
                    const float **values, size_t *count) {
    const struct sparse_matrix *vectors = &segment->vectors;
    struct bytes_view view;
    if (!vectors->offsets || row >= segment->rows ||
        !container_find(&segment->container, SECTION_VECTOR_COLUMNS, &view))
        return false;
    uint64_t begin = vectors->offsets[row], end = vectors->offsets[row + 1];
    if (begin > end || end > view.size / sizeof(uint32_t))
        return false;
    for (uint64_t i = begin; i < end; i++)
        if (vectors->columns[i] >= vectors->column_count ||
            (i > begin && vectors->columns[i - 1] >= vectors->columns[i]))
            return false;
    *columns = vectors->columns + begin;
    *values = vectors->values + begin;
    *count = (size_t)(end - begin);
    return true;
}

static cog_status verify_rows(const struct segment *segment, cog_error *error) {
    const char *path = segment->container.path;
    const uint64_t *ids = segment->id_offsets, *vectors = segment->vectors.offsets;
    size_t rows = segment->rows;
    struct bytes_view view = {0};
    container_find(&segment->container, SECTION_VECTOR_COLUMNS, &view);
    if ((ids && (ids[0] != 0 || ids[rows] != segment->id_bytes.size)) ||
        (vectors && (vectors[0] != 0 || vectors[rows] != view.size / sizeof(uint32_t))))
        return error_set(error, COG_ERR_FORMAT, "%s: offsets do not cover their section", path);
    for (size_t row = 0; row < rows; row++) {
        struct bytes_view id;
        const uint32_t *columns;
        const float *values;
        size_t count;
        if (ids && !segment_id(segment, row, &id))
            return error_set_at(error, COG_ERR_FORMAT, row, "%s: the id of row %zu is impossible",
                                path, row);
        if (vectors && !segment_vector(segment, row, &columns, &values, &count))
            return error_set_at(error, COG_ERR_FORMAT, row,
                                "%s: the vector of row %zu is impossible", path, row);
    }
    return COG_OK;
}

cog_status segment_verify(const struct segment *segment, cog_error *error) {
    const struct method_rows rows = {.signatures = &segment->signatures};
    cog_status status = container_verify(&segment->container, error);
    THEN(status, verify_rows(segment, error));
    if (status == COG_OK && segment->id_buckets.starts)
        status = id_buckets_check(&segment->id_buckets, segment, error);
    if (status == COG_OK && segment->slices.offsets)
        status = slices_check(&segment->slices, error);
    if (status == COG_OK && segment->columns.words)
        status = columns_check(&segment->columns, &segment->signatures, error);
    if (status == COG_OK && segment->tables)
        status = segment->method->check(segment->tables, &rows, error);
    return status;
}

void segment_close(struct segment *segment) {
    if (segment->opened_tables)
        segment->method->release(segment->opened_tables);
    settings_free(&segment->settings);
    container_close(&segment->container);
    *segment = (struct segment){0};
}

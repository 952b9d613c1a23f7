#include <string.h>

#include "base/numbers.h"
#include "index/numbered_ids.h"
#include "index/segment.h"
#include "index/segment_sections.h"

/* The width that makes a layout again: that of its widest slice. */
static unsigned layout_width(const struct slice_layout *layout) {
    return slice_width(layout, 0);
}

static cog_status check_parts(const struct segment_parts *parts, cog_error *error) {
    const char *fault = NULL;
    if (parts->rows > UINT32_MAX)
        fault = "too many rows for a segment";
    else if (parts->signatures.bits && parts->signatures.rows != parts->rows)
        fault = "signatures of another number of rows";
    else if (parts->slices && (parts->slices->rows != parts->rows ||
                               parts->slices->layout.bits != parts->signatures.bits))
        fault = "slices of other signatures";
    else if (parts->columns && (parts->columns->clusters.rows != parts->rows ||
                                parts->columns->clusters.bits != parts->signatures.bits))
        fault = "columns of other signatures";
    else if (parts->vectors && parts->vectors->rows != parts->rows)
        fault = "vectors of another number of rows";
    return fault ? error_set(error, COG_ERR_USAGE, "a segment cannot be written: %s", fault)
                 : COG_OK;
}

static cog_status write_shape(struct container_writer *writer, const struct segment_parts *parts,
                              cog_error *error) {
    uint8_t shape[SHAPE_BYTES] = {0};
    encode_u64(shape + SHAPE_ROWS, parts->rows);
    if (parts->signatures.bits) {
        encode_u32(shape + SHAPE_BITS, parts->signatures.bits);
        encode_u32(shape + SHAPE_STRIDE, (uint32_t)signature_stride_bytes(parts->signatures.bits));
    }
    if (parts->slices)
        encode_u32(shape + SHAPE_SLICE_WIDTH, layout_width(&parts->slices->layout));
    if (parts->vectors) {
        encode_u32(shape + SHAPE_COLUMNS, parts->vectors->column_count);
        encode_u64(shape + SHAPE_ENTRIES, parts->vectors->offsets[parts->rows]);
    }
    return container_writer_section(writer, SECTION_SHAPE, shape, sizeof shape, error);
}

static cog_status write_signatures(struct container_writer *writer,
                                   const struct signatures_view *signatures, cog_error *error) {
    size_t stride = signature_stride_bytes(signatures->bits);
    cog_status status = container_writer_begin(writer, SECTION_SIGNATURES, error);
    if (status == COG_OK && signatures->stride_bytes == stride)
        status =
            container_writer_append(writer, signatures->data, signatures->rows * stride, error);
    else
        for (size_t row = 0; status == COG_OK && row < signatures->rows; row++)
            status = container_writer_append(writer, signature_row(signatures, row), stride, error);
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

struct section {
    uint32_t kind;
    const void *data;
    size_t count, size_bytes;
};

static cog_status write_sections(struct container_writer *writer, const struct section *sections,
                                 size_t count, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; status == COG_OK && i < count; i++)
        status = container_writer_section(writer, sections[i].kind, sections[i].data,
                                          sections[i].count * sections[i].size_bytes, error);
    return status;
}

static cog_status write_ids(struct container_writer *writer, const struct segment_parts *parts,
                            cog_error *error) {
    size_t rows = parts->rows;
    const struct section ids[] = {
        {SECTION_ID_OFFSETS, parts->id_offsets, rows + 1, sizeof(uint64_t)},
        {SECTION_ID_BYTES, parts->id_bytes, parts->id_offsets[rows], 1}};
    cog_status status = write_sections(writer, ids, 2, error);
    if (status != COG_OK || !parts->id_buckets)
        return status;
    const struct section buckets[] = {
        {SECTION_ID_STARTS, parts->id_buckets->starts, id_buckets_count(rows) + 1,
         sizeof(uint32_t)},
        {SECTION_ID_ENTRIES, parts->id_buckets->entries, rows, ID_ENTRY_BYTES}};
    return write_sections(writer, buckets, 2, error);
}

static cog_status write_parts(struct container_writer *writer, const struct segment_parts *parts,
                              cog_error *error) {
    static const struct settings no_settings;
    size_t rows = parts->rows;
    cog_status status =
        settings_write(parts->settings ? parts->settings : &no_settings, writer, error);
    THEN(status, write_shape(writer, parts, error));
    if (status == COG_OK && parts->id_offsets)
        status = write_ids(writer, parts, error);
    if (status == COG_OK && parts->is_numbered)
        status = numbered_ids_write(writer, parts->first_number, rows, error);
    if (status == COG_OK && parts->signatures.bits)
        status = write_signatures(writer, &parts->signatures, error);
    if (status == COG_OK && parts->slices) {
        const struct slices_view *slices = parts->slices;
        const struct section sections[] = {{SECTION_SLICE_OFFSETS, slices->offsets,
                                            slice_layout_offsets(&slices->layout),
                                            sizeof(uint32_t)},
                                           {SECTION_SLICE_POSTINGS, slices->postings,
                                            slices->layout.count * rows, sizeof(uint32_t)}};
        status = write_sections(writer, sections, 2, error);
    }
    if (status == COG_OK && parts->tables)
        status = parts->method->write(parts->tables, writer, error);
    if (status == COG_OK && parts->columns) {
        const struct clusters_view *clusters = &parts->columns->clusters;
        const struct section sections[] = {
            {SECTION_CLUSTER_ORDER, clusters->order, clusters->groups * CLUSTER_GROUP,
             sizeof(uint32_t)},
            {SECTION_CLUSTER_ENDS, clusters->ends, clusters->count, sizeof(uint32_t)},
            {SECTION_CLUSTER_SHARES, clusters->shares, clusters->count,
             cluster_stride(clusters->bits)},
            {SECTION_COLUMN_GROUPS, parts->columns->words,
             columns_size_bytes(clusters->groups, clusters->bits), 1}};
        status = write_sections(writer, sections, 4, error);
    }
    if (status == COG_OK && parts->vectors) {
        const struct sparse_matrix *vectors = parts->vectors;
        const struct section sections[] = {
            {SECTION_VECTOR_OFFSETS, vectors->offsets, rows + 1, sizeof(uint64_t)},
            {SECTION_VECTOR_COLUMNS, vectors->columns, vectors->offsets[rows], sizeof(uint32_t)},
            {SECTION_VECTOR_VALUES, vectors->values, vectors->offsets[rows], sizeof(float)}};
        status = write_sections(writer, sections, 3, error);
    }
    return status;
}

cog_status segment_write(const char *path, const struct segment_parts *parts, cog_error *error) {
    struct container_writer *writer = NULL;
    cog_status status = check_parts(parts, error);
    THEN(status, container_writer_open(path, CONTAINER_SEGMENT, &writer, error));
    THEN(status, write_parts(writer, parts, error));
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    return status;
}

#include "index/segment.h"

#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"

#define SECTION_SHAPE CONTAINER_TAG('s', 'h', 'a', 'p')
#define SECTION_SIGNATURES CONTAINER_TAG('s', 'i', 'g', 'n')
#define SECTION_LENGTHS CONTAINER_TAG('v', 'c', 'l', 'n')
#define SECTION_VECTOR_OFFSETS CONTAINER_TAG('v', 'c', 'o', 'f')
#define SECTION_VECTOR_COLUMNS CONTAINER_TAG('v', 'c', 'c', 'o')
#define SECTION_VECTOR_VALUES CONTAINER_TAG('v', 'c', 'v', 'a')

/* Offsets in the section "shap". */
enum {
    SHAPE_ROWS = 0,
    SHAPE_BITS = 8,
    SHAPE_STRIDE = 12,
    SHAPE_SLICE_WIDTH = 16,
    SHAPE_COLUMNS = 20,
    SHAPE_ENTRIES = 24,
    SHAPE_BYTES = 48,
};

/* Older readers would take frequencies for weights, or miss the documents of sets. */
enum { SEGMENT_TERMS_READER = 2, SEGMENT_SETS_READER = 4 };

/* ---- Opening --------------------------------------------------------------------------------- */

/* Files of the oldest writers have ids without a table. */
static cog_status open_id_buckets(struct segment *segment, cog_error *error) {
    struct bytes_view view;
    const void *starts = NULL, *entries = NULL;
    if (!container_find(&segment->container, SECTION_ID_STARTS, &view))
        return COG_OK;
    TRY(container_array(&segment->container, SECTION_ID_STARTS, id_buckets_count(segment->rows) + 1,
                        sizeof(uint32_t), &starts, error));
    TRY(container_array(&segment->container, SECTION_ID_ENTRIES, segment->rows, ID_ENTRY_BYTES,
                        &entries, error));
    segment->id_buckets = (struct id_buckets){(uint32_t *)starts, (uint8_t *)entries};
    return COG_OK;
}

static cog_status open_ids(struct segment *segment, cog_error *error) {
    const void *offsets = NULL;
    if (!container_find(&segment->container, SECTION_ID_BYTES, &segment->id_bytes))
        return COG_OK;
    TRY(container_array(&segment->container, SECTION_ID_OFFSETS, segment->rows + 1,
                        sizeof(uint64_t), &offsets, error));
    segment->id_offsets = offsets;
    return open_id_buckets(segment, error);
}

static cog_status open_signatures(struct segment *segment, const uint8_t *shape, cog_error *error) {
    uint32_t bits = decode_u32(shape + SHAPE_BITS), stride = decode_u32(shape + SHAPE_STRIDE);
    if (bits == 0)
        return COG_OK;
    if (bits > HAMMING_MAX_BITS || stride != signature_stride_bytes(bits))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: damaged: rows of %u bytes for signatures of %u bits",
                         segment->container.path, stride, bits);
    const void *data = NULL;
    TRY(container_array(&segment->container, SECTION_SIGNATURES, segment->rows, stride, &data,
                        error));
    segment->signatures = (struct signatures_view){data, segment->rows, bits, stride};
    return COG_OK;
}

struct method_rows segment_method_rows(const struct segment *segment) {
    return (struct method_rows){.signatures = &segment->signatures,
                                .vectors = segment->vectors.offsets ? &segment->vectors : NULL};
}

/* Opens the tables of every method that has a section in the file. */
static cog_status open_tables(struct segment *segment, cog_error *error) {
    struct method_rows rows = segment_method_rows(segment);
    const struct search_method *method;
    for (int i = COG_METHOD_AUTO + 1; (method = method_of((cog_method)i)); i++) {
        struct method_tables *tables = &segment->tables[segment->table_count];
        if (segment->table_count == SEGMENT_TABLES_MAX ||
            !method_has_tables(method, &segment->container))
            continue;
        tables->method = method;
        TRY(method_open(method, &segment->container, &rows, &tables->data, error));
        segment->table_count++;
    }
    return COG_OK;
}

const void *segment_tables(const struct segment *segment, const struct search_method *method) {
    for (unsigned i = 0; i < segment->table_count; i++)
        if (segment->tables[i].method == method)
            return segment->tables[i].data;
    return NULL;
}

static cog_status open_vectors(struct segment *segment, const uint8_t *shape, cog_error *error) {
    struct bytes_view view;
    uint64_t entries = decode_u64(shape + SHAPE_ENTRIES);
    const void *offsets = NULL, *columns = NULL, *values = NULL;
    if (!container_find(&segment->container, SECTION_VECTOR_OFFSETS, &view))
        return COG_OK;
    TRY(container_array(&segment->container, SECTION_VECTOR_OFFSETS, segment->rows + 1,
                        sizeof(uint64_t), &offsets, error));
    TRY(container_array(&segment->container, SECTION_VECTOR_COLUMNS, entries, sizeof(uint32_t),
                        &columns, error));
    TRY(container_array(&segment->container, SECTION_VECTOR_VALUES, entries, sizeof(float), &values,
                        error));
    segment->vectors =
        (struct sparse_matrix){segment->rows, decode_u32(shape + SHAPE_COLUMNS),
                               (uint64_t *)offsets, (uint32_t *)columns, (float *)values};
    return COG_OK;
}

/* Opens the terms of documents, and the documents' lengths. */
static cog_status open_terms(struct segment *segment, cog_error *error) {
    const void *lengths = NULL;
    TRY(segment_terms_open(&segment->container, &segment->terms, error));
    if (!segment->terms.hashes)
        return COG_OK;
    TRY(container_array(&segment->container, SECTION_LENGTHS, segment->rows, sizeof(uint64_t),
                        &lengths, error));
    segment->lengths = lengths;
    return segment->vectors.offsets && segment->vectors.column_count != segment->terms.count
               ? error_set(
                     error, COG_ERR_FORMAT, "%s: damaged: vectors with %u columns for %zu terms",
                     segment->container.path, segment->vectors.column_count, segment->terms.count)
               : COG_OK;
}

static cog_status open_parts(struct segment *segment, cog_error *error) {
    const void *shape = NULL;
    TRY(container_array(&segment->container, SECTION_SHAPE, SHAPE_BYTES, 1, &shape, error));
    uint64_t rows = decode_u64((const uint8_t *)shape + SHAPE_ROWS);
    if (rows > UINT32_MAX)
        return error_set(error, COG_ERR_FORMAT,
                         "%s: damaged: %llu rows are more than a segment can hold",
                         segment->container.path, (unsigned long long)rows);
    segment->rows = (size_t)rows;
    TRY(settings_read(&segment->container, &segment->settings, error));
    TRY(open_ids(segment, error));
    TRY(open_signatures(segment, shape, error));
    TRY(open_vectors(segment, shape, error));
    TRY(open_terms(segment, error));
    TRY(segment_sets_open(&segment->container, segment->rows, &segment->sets, error));
    TRY(recall_measures_open(&segment->container, &segment->recall, error));
    return segment->signatures.bits ? open_tables(segment, error) : COG_OK;
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

uint64_t segment_table_bytes(const struct segment *segment) {
    static const uint32_t streamed[] = {
        SECTION_ID_OFFSETS,     SECTION_ID_BYTES,       SECTION_ID_STARTS,
        SECTION_ID_ENTRIES,     SECTION_SIGNATURES,     SECTION_LENGTHS,
        SECTION_VECTOR_OFFSETS, SECTION_VECTOR_COLUMNS, SECTION_VECTOR_VALUES};
    uint64_t bytes = segment->container.size_bytes;
    if (segment->sets.rows)
        return 0;
    for (size_t i = 0; i < sizeof streamed / sizeof *streamed; i++) {
        struct bytes_view view;
        if (container_find(&segment->container, streamed[i], &view))
            bytes -= view.size < bytes ? view.size : bytes;
    }
    return bytes;
}

uint64_t segment_entries(const struct segment *segment) {
    struct bytes_view view;
    if (!segment->vectors.offsets)
        return 0;
    return container_find(&segment->container, SECTION_VECTOR_COLUMNS, &view)
               ? view.size / sizeof(uint32_t)
               : segment->vectors.offsets[segment->rows]; /* in memory */
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
    bool is_rising = begin == end || vectors->columns[end - 1] < vectors->column_count;
    for (uint64_t i = begin + 1; i < end; i++) /* without a branch, so that it vectorises */
        is_rising &= vectors->columns[i - 1] < vectors->columns[i];
    if (!is_rising)
        return false;
    *columns = vectors->columns + begin;
    *values = vectors->values + begin;
    *count = (size_t)(end - begin);
    return true;
}

cog_status segment_damaged_row(const struct segment *segment, size_t row, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: row %zu is damaged; restore the folder from a copy, or build the index "
                     "again",
                     segment->container.path, row);
}

void segment_close(struct segment *segment) {
    for (unsigned i = 0; i < segment->table_count; i++)
        method_release(segment->tables[i].method, segment->tables[i].data);
    settings_free(&segment->settings);
    container_close(&segment->container);
    *segment = (struct segment){0};
}

/* ---- Verifying ------------------------------------------------------------------------------- */

static cog_status verify_rows(const struct segment *segment, cog_error *error) {
    const char *path = segment->container.path;
    const uint64_t *ids = segment->id_offsets, *vectors = segment->vectors.offsets;
    size_t rows = segment->rows;
    struct bytes_view view = {0};
    container_find(&segment->container, SECTION_VECTOR_COLUMNS, &view);
    if ((ids && (ids[0] != 0 || ids[rows] != segment->id_bytes.size)) ||
        (vectors && (vectors[0] != 0 || vectors[rows] != view.size / sizeof(uint32_t))))
        return error_set(error, COG_ERR_FORMAT, "%s: offsets do not cover their section", path);
    /* A damaged file may claim any number of rows, so iterate only over parts that contain them. */
    for (size_t row = 0; row < rows && (ids || vectors); row++) {
        struct bytes_view id;
        const uint32_t *columns;
        const float *values;
        size_t count;
        if (ids && !segment_id(segment, row, &id))
            return error_set_at(error, COG_ERR_FORMAT, row, "%s: the id of row %zu is invalid",
                                path, row);
        if (vectors && !segment_vector(segment, row, &columns, &values, &count))
            return error_set_at(error, COG_ERR_FORMAT, row, "%s: the vector of row %zu is invalid",
                                path, row);
    }
    return COG_OK;
}

/* Rows that have a term with a small weight may not be counted. */
static bool counts_fit(const struct segment_terms *terms, size_t term, uint32_t rows) {
    uint32_t df = terms->counts[term].document_frequency;
    return terms->has_weights ? rows > 0 && df <= rows : df == rows;
}

/* Compares the counts of the terms with the vectors, which must be verified already. */
static cog_status verify_terms(const struct segment *segment, cog_error *error) {
    const struct segment_terms *terms = &segment->terms;
    const struct sparse_matrix *vectors = &segment->vectors;
    TRY(segment_terms_check(terms, segment->container.path, segment->rows, error));
    uint64_t length = 0;
    for (size_t row = 0; row < segment->rows; row++)
        length += segment->lengths[row];
    if (length != terms->total_length)
        return error_set(error, COG_ERR_FORMAT, "%s: lengths of rows do not add up to their sum",
                         segment->container.path);
    if (!vectors->offsets)
        return COG_OK;
    uint32_t *counts;
    TAKE_ZEROED(counts, terms->count + 1, "a check", error);
    for (uint64_t i = 0; i < vectors->offsets[segment->rows]; i++)
        counts[vectors->columns[i]]++;
    size_t wrong = 0;
    while (wrong < terms->count && counts_fit(terms, wrong, counts[terms->numbers[wrong]]))
        wrong++;
    free(counts);
    return wrong == terms->count
               ? COG_OK
               : error_set_at(error, COG_ERR_FORMAT, wrong,
                              "%s: term %zu does not occur in the number of rows recorded for it",
                              segment->container.path, wrong);
}

cog_status segment_verify(const struct segment *segment, cog_error *error) {
    struct method_rows rows = segment_method_rows(segment);
    const char *path = segment->container.path;
    TRY(container_verify(&segment->container, error));
    TRY(verify_rows(segment, error));
    if (segment->terms.hashes)
        TRY(verify_terms(segment, error));
    if (segment->sets.rows)
        TRY(segment_sets_check(&segment->sets, path, segment->rows, error));
    TRY(recall_measures_check(&segment->recall, path, error));
    if (segment->id_buckets.starts)
        TRY(id_buckets_check(&segment->id_buckets, segment, error));
    for (unsigned i = 0; i < segment->table_count; i++)
        TRY(segment->tables[i].method->check(segment->tables[i].data, &rows, error));
    return COG_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static cog_status check_parts(const struct segment_parts *parts, cog_error *error) {
    const char *fault = NULL;
    if (parts->rows > UINT32_MAX)
        fault = "too many rows for a segment";
    else if (parts->signatures.bits && parts->signatures.rows != parts->rows)
        fault = "signatures with a different number of rows";
    else if (parts->vectors && parts->vectors->rows != parts->rows)
        fault = "vectors with a different number of rows";
    else if (parts->terms && (!parts->lengths || (parts->vectors && parts->vectors->column_count !=
                                                                        parts->terms->count)))
        fault = "terms without lengths, or not one per column of the vectors";
    return fault ? error_set(error, COG_ERR_USAGE, "a segment cannot be written: %s", fault)
                 : COG_OK;
}

static cog_status write_shape(struct container_writer *writer, const struct segment_parts *parts,
                              cog_error *error) {
    uint8_t shape[SHAPE_BYTES] = {0};
    cog_index_info info = {0};
    encode_u64(shape + SHAPE_ROWS, parts->rows);
    if (parts->signatures.bits) {
        encode_u32(shape + SHAPE_BITS, parts->signatures.bits);
        encode_u32(shape + SHAPE_STRIDE, (uint32_t)signature_stride_bytes(parts->signatures.bits));
    }
    for (unsigned i = 0; i < parts->table_count; i++)
        if (parts->tables[i].method->describe)
            parts->tables[i].method->describe(parts->tables[i].data, &info);
    encode_u32(shape + SHAPE_SLICE_WIDTH, info.slice_bits); /* for older readers */
    if (parts->vectors) {
        encode_u32(shape + SHAPE_COLUMNS, parts->vectors->column_count);
        encode_u64(shape + SHAPE_ENTRIES, parts->vectors->offsets[parts->rows]);
    }
    return container_writer_section(writer, SECTION_SHAPE, shape, sizeof shape, error);
}

static cog_status write_signatures(struct container_writer *writer,
                                   const struct signatures_view *signatures, cog_error *error) {
    size_t stride = signature_stride_bytes(signatures->bits);
    TRY(container_writer_begin(writer, SECTION_SIGNATURES, error));
    if (signatures->stride_bytes == stride)
        TRY(container_writer_append(writer, signatures->data, signatures->rows * stride, error));
    else
        for (size_t row = 0; row < signatures->rows; row++)
            TRY(container_writer_append(writer, signature_row(signatures, row), stride, error));
    return container_writer_end(writer, error);
}

static cog_status write_ids(struct container_writer *writer, const struct segment_parts *parts,
                            cog_error *error) {
    size_t rows = parts->rows;
    const struct container_part ids[] = {
        {SECTION_ID_OFFSETS, parts->id_offsets, rows + 1, sizeof(uint64_t)},
        {SECTION_ID_BYTES, parts->id_bytes, parts->id_offsets[rows], 1}};
    TRY(container_writer_sections(writer, ids, 2, error));
    if (parts->index_ids) {
        const struct segment of_ids = {
            .rows = rows,
            .id_offsets = parts->id_offsets,
            .id_bytes = view_of(parts->id_bytes, (size_t)parts->id_offsets[rows])};
        return id_buckets_write(writer, &of_ids, error);
    }
    if (!parts->id_buckets)
        return COG_OK;
    const struct container_part buckets[] = {
        {SECTION_ID_STARTS, parts->id_buckets->starts, id_buckets_count(rows) + 1,
         sizeof(uint32_t)},
        {SECTION_ID_ENTRIES, parts->id_buckets->entries, rows, ID_ENTRY_BYTES}};
    return container_writer_sections(writer, buckets, 2, error);
}

static cog_status write_terms(struct container_writer *writer, const struct segment_parts *parts,
                              cog_error *error) {
    TRY(segment_terms_write(parts->terms, writer, error));
    return container_writer_section(writer, SECTION_LENGTHS, parts->lengths,
                                    parts->rows * sizeof *parts->lengths, error);
}

static cog_status write_vectors(struct container_writer *writer,
                                const struct sparse_matrix *vectors, cog_error *error) {
    const uint64_t entries = vectors->offsets[vectors->rows];
    const struct container_part sections[] = {
        {SECTION_VECTOR_OFFSETS, vectors->offsets, vectors->rows + 1, sizeof(uint64_t)},
        {SECTION_VECTOR_COLUMNS, vectors->columns, entries, sizeof(uint32_t)},
        {SECTION_VECTOR_VALUES, vectors->values, entries, sizeof(float)}};
    return container_writer_sections(writer, sections, 3, error);
}

static cog_status write_parts(struct container_writer *writer, const struct segment_parts *parts,
                              cog_error *error) {
    static const struct settings no_settings;
    TRY(settings_write(parts->settings ? parts->settings : &no_settings, writer, error));
    TRY(write_shape(writer, parts, error));
    if (parts->id_offsets)
        TRY(write_ids(writer, parts, error));
    if (parts->is_numbered)
        TRY(numbered_ids_write(writer, parts->first_number, parts->rows, error));
    if (parts->signatures.bits)
        TRY(write_signatures(writer, &parts->signatures, error));
    for (unsigned i = 0; i < parts->table_count; i++)
        TRY(parts->tables[i].method->write(parts->tables[i].data, writer, error));
    TRY(recall_measures_write(&parts->recall, writer, error));
    if (parts->terms)
        TRY(write_terms(writer, parts, error));
    if (parts->sets)
        TRY(segment_sets_write(parts->sets, parts->rows, writer, error));
    return parts->vectors ? write_vectors(writer, parts->vectors, error) : COG_OK;
}

cog_status segment_write(const char *path, const struct segment_parts *parts, cog_error *error) {
    struct container_writer *writer = NULL;
    cog_status status = check_parts(parts, error);
    THEN(status, container_writer_open(path, CONTAINER_SEGMENT, &writer, error));
    if (status == COG_OK && parts->terms)
        container_writer_for(writer, SEGMENT_TERMS_READER);
    if (status == COG_OK && parts->sets)
        container_writer_for(writer, SEGMENT_SETS_READER);
    THEN(status, write_parts(writer, parts, error));
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    return status;
}

/* Segments in memory: from documents, from signatures, or merged from others. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "collection/corpus_sign.h"
#include "jobs/index/index_handle.h"
#include "search/bphs/bphs_method.h"
#include "search/psm/psm_method.h"

enum { AUTO_FLAT_ROWS = 100000 }; /* below, nothing but signatures pays */

void segment_memory_free(struct segment_memory *memory) {
    free(memory->id_offsets);
    free(memory->id_bytes);
    id_buckets_free(&memory->id_buckets);
    free(memory->signatures);
    slice_lists_free(&memory->lists);
    bit_columns_free(&memory->columns);
    if (memory->tables)
        memory->method->release(memory->tables);
    sparse_matrix_free(&memory->vectors);
    *memory = (struct segment_memory){0};
}

void segment_draft_free(struct segment_draft *draft) {
    segment_close(&draft->segment);
    segment_memory_free(&draft->memory);
    *draft = (struct segment_draft){0};
}

/* The knobs that the index was built with. */
static cog_knobs stored_knobs(const struct settings *settings, const struct search_method *method) {
    static const char *const psm[] = {[PSM_HEADER] = "header bits", [PSM_FLIPS] = ""};
    static const char *const bphs[] = {[BPHS_BLOCKS] = "blocks", [BPHS_CHOOSE] = "chosen blocks"};
    cog_knobs knobs = {0};
    for (unsigned i = 0; i < method->knob_count; i++) {
        uint64_t value = 0;
        settings_get_u64(settings, method == &psm_method ? psm[i] : bphs[i], &value);
        if (value)
            knob_set(&knobs, i, value);
    }
    return knobs;
}

/* What psm learned when the index was built also holds for rows that are added. */
static cog_status add_tables(const cog_index *index, const struct search_method *method,
                             const float *weights, unsigned threads, struct segment_draft *draft,
                             cog_error *error) {
    const struct settings *settings = &index->parts.manifest.settings;
    const struct signatures_view *rows = &draft->segment.signatures;
    cog_knobs knobs = stored_knobs(settings, method);
    uint64_t radius_bits = 0;
    settings_get_u64(settings, "radius", &radius_bits);
    struct method_build build = {.rows = {.signatures = rows, .margins = weights},
                                 .radius_bits = (uint32_t)radius_bits,
                                 .knobs = &knobs,
                                 .threads = threads};
    struct method_size size = {
        .rows = rows->rows, .bits = rows->bits, .radius_bits = build.radius_bits};
    if (index->parts.manifest.count == 0)
        TRY(method->settings(&size, &knobs, error));
    else if (index->parts.segments[0].method == method)
        build.earlier = index->parts.segments[0].tables;
    draft->segment.method = draft->memory.method = method;
    TRY(method->build(&build, &draft->memory.tables, error));
    draft->segment.tables = draft->memory.tables;
    return COG_OK;
}

/* Lists, columns or tables where the index is to have them. The queries of documents come with
 * weights, and columns make the most of those. */
static cog_status add_method(const cog_index *index, const float *weights, unsigned threads,
                             struct segment_draft *draft, cog_error *error) {
    const char *method = "auto";
    uint64_t width = 0;
    settings_get_text(&index->parts.manifest.settings, "index method", &method);
    settings_get_u64(&index->parts.manifest.settings, "slice bits", &width);
    bool chooses = strcmp(method, "auto") == 0;
    if (strcmp(method, "flat") == 0 || (chooses && draft->segment.rows < AUTO_FLAT_ROWS))
        return COG_OK;
    if (strcmp(method, "columns") == 0 || (chooses && index->has_documents && width == 0)) {
        cog_status status =
            bit_columns_build(&draft->memory.columns, &draft->segment.signatures, threads, error);
        draft->segment.columns = draft->memory.columns.view;
        return status;
    }
    if (strcmp(method, "psm") == 0 || strcmp(method, "bphs") == 0)
        return add_tables(index, strcmp(method, "psm") == 0 ? &psm_method : &bphs_method, weights,
                          threads, draft, error);
    cog_status status = slice_lists_build(&draft->memory.lists, &draft->segment.signatures,
                                          (unsigned)width, threads, error);
    draft->segment.slices = draft->memory.lists.view;
    return status;
}

static cog_status take_settings(const cog_index *index, struct segment_draft *draft,
                                cog_error *error) {
    return settings_copy(&draft->segment.settings, &index->parts.manifest.settings, error);
}

static cog_status make_room_for_ids(struct segment_draft *draft, size_t rows, size_t size_bytes,
                                    cog_error *error) {
    struct segment_memory *memory = &draft->memory;
    memory->id_offsets = memory_zeroed_array(rows + 1, sizeof *memory->id_offsets);
    memory->id_bytes = memory_array(size_bytes + 1, 1);
    if (!memory->id_offsets || !memory->id_bytes)
        return error_memory(error, rows * sizeof *memory->id_offsets + size_bytes, "ids");
    draft->segment.id_offsets = memory->id_offsets;
    draft->segment.id_bytes = view_of(memory->id_bytes, size_bytes);
    return COG_OK;
}

static void append_id(struct segment_draft *draft, size_t row, struct bytes_view id) {
    uint64_t at = draft->memory.id_offsets[row];
    if (id.size)
        memcpy(draft->memory.id_bytes + at, id.data, id.size);
    draft->memory.id_offsets[row + 1] = at + id.size;
}

/* Once all ids are there. */
static cog_status index_ids(struct segment_draft *draft, cog_error *error) {
    cog_status status = id_buckets_build(&draft->segment, &draft->memory.id_buckets, error);
    draft->segment.id_buckets = draft->memory.id_buckets;
    return status;
}

static cog_status copy_ids(const struct corpus *corpus, struct segment_draft *draft,
                           cog_error *error) {
    size_t size_bytes = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        size_bytes += corpus->items[row].id_bytes;
    cog_status status = make_room_for_ids(draft, corpus->rows, size_bytes, error);
    for (size_t row = 0; status == COG_OK && row < corpus->rows; row++)
        append_id(draft, row, corpus_id(corpus, row));
    return status == COG_OK ? index_ids(draft, error) : status;
}

/* Numbers as ids. */
static cog_status number_rows(struct segment_draft *draft, uint64_t first_id, cog_error *error) {
    enum { DIGITS_MAX = 20 };
    char text[DIGITS_MAX + 1];
    size_t rows = draft->segment.rows, size_bytes = 0;
    for (size_t row = 0; row < rows; row++)
        size_bytes +=
            (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)first_id + row);
    cog_status status = make_room_for_ids(draft, rows, size_bytes, error);
    for (size_t row = 0; status == COG_OK && row < rows; row++) {
        int length = snprintf(text, sizeof text, "%llu", (unsigned long long)first_id + row);
        append_id(draft, row, view_of(text, (size_t)length));
    }
    return status == COG_OK ? index_ids(draft, error) : status;
}

/* psm learns from the sums behind the bits; nobody else needs them. */
static cog_status make_room_for_sums(const cog_index *index, size_t rows, float **sums,
                                     cog_error *error) {
    const char *method = "";
    settings_get_text(&index->parts.manifest.settings, "index method", &method);
    if (strcmp(method, "psm") != 0)
        return COG_OK;
    *sums = memory_array(rows + 1, index_bits(index) * sizeof **sums);
    return *sums ? COG_OK
                 : error_memory(error, rows * index_bits(index) * sizeof **sums, "weights");
}

cog_status segment_draft_documents(const cog_index *index, const struct corpus *corpus,
                                   unsigned threads, struct segment_draft *draft,
                                   cog_error *error) {
    struct statistics *statistics = index->statistics->counts;
    float *sums = NULL;
    draft->segment.rows = corpus->rows;
    cog_status status = take_settings(index, draft, error);
    THEN(status, make_room_for_sums(index, corpus->rows, &sums, error));
    THEN(status,
         corpus_sign(&(struct corpus_rows){corpus, NULL, corpus->rows}, &index->sign, statistics,
                     threads, &draft->segment.signatures, sums, index_bits(index), error));
    draft->memory.signatures = (uint8_t *)draft->segment.signatures.data;
    if (status == COG_OK && index->has_vectors)
        status = corpus_vectors_in(corpus, index->columns, statistics, &index->weighting, 1, NULL,
                                   threads, &draft->memory.vectors, error);
    draft->segment.vectors = draft->memory.vectors;
    THEN(status, copy_ids(corpus, draft, error));
    THEN(status, add_method(index, sums, threads, draft, error));
    free(sums);
    return status;
}

cog_status segment_draft_signatures(const cog_index *index, const struct signatures_view *rows,
                                    uint64_t first_id, bool want_ids, unsigned threads,
                                    struct segment_draft *draft, cog_error *error) {
    draft->segment.rows = rows->rows;
    draft->segment.signatures = *rows;
    cog_status status = take_settings(index, draft, error);
    if (status == COG_OK && (want_ids || first_id))
        status = number_rows(draft, first_id, error);
    return status == COG_OK ? add_method(index, index->build_weights, threads, draft, error)
                            : status;
}

/* ---- Merging --------------------------------------------------------------------------------- */

/* How much the rows that stay take. */
struct merged_size {
    size_t rows, id_bytes;
    uint64_t entries; /* of the vectors */
};

/* Calls take for every row that stays, in order. */
typedef cog_status row_taker(void *context, size_t part, uint32_t row, cog_error *error);
static cog_status visit_live_rows(const cog_index *index, row_taker *take, void *context,
                                  cog_error *error) {
    cog_status status = COG_OK;
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        size_t removed = 0;
        for (uint32_t row = 0; row < entry->rows && status == COG_OK; row++) {
            if (removed < entry->removed_count && entry->removed[removed] == row)
                removed++;
            else
                status = take(context, part, row, error);
        }
    }
    return status;
}

struct merge {
    const cog_index *index;
    struct merged_size size;
    struct segment_draft *draft;
    size_t row; /* next of the draft */
};

static cog_status damaged_row(const struct merge *merge, size_t part, uint32_t row,
                              cog_error *error) {
    return error_set(error, COG_ERR_FORMAT, "%s: row %u is damaged; cognate index check tells more",
                     merge->index->parts.segments[part].container.path, row);
}

/* A row without an id is known by its number in the whole index. */
static struct bytes_view name_row(const cog_index *index, size_t part, uint32_t row,
                                  char text[24]) {
    struct bytes_view id;
    if (segment_id(&index->parts.segments[part], row, &id))
        return id;
    uint64_t first = 0;
    for (size_t i = 0; i < part; i++)
        first += index->parts.manifest.entries[i].rows;
    int length = snprintf(text, 24, "%llu", (unsigned long long)first + row);
    return view_of(text, (size_t)length);
}

static cog_status measure_row(void *context, size_t part, uint32_t row, cog_error *error) {
    struct merge *merge = context;
    const uint32_t *columns;
    const float *values;
    size_t count;
    char text[24];
    merge->size.rows++;
    merge->size.id_bytes += name_row(merge->index, part, row, text).size;
    if (!merge->index->has_vectors)
        return COG_OK;
    if (!index_row_vector(merge->index, part, row, &columns, &values, &count))
        return damaged_row(merge, part, row, error);
    merge->size.entries += count;
    return COG_OK;
}

static cog_status merge_row(void *context, size_t part, uint32_t row, cog_error *error) {
    struct merge *merge = context;
    const struct segment *from = &merge->index->parts.segments[part];
    struct segment_memory *to = &merge->draft->memory;
    size_t stride = merge->draft->segment.signatures.stride_bytes;
    char text[24];
    append_id(merge->draft, merge->row, name_row(merge->index, part, row, text));
    memcpy(to->signatures + merge->row * stride, signature_row(&from->signatures, row), stride);
    if (merge->index->has_vectors) {
        const uint32_t *columns;
        const float *values;
        size_t count;
        uint64_t at = to->vectors.offsets[merge->row];
        if (!index_row_vector(merge->index, part, row, &columns, &values, &count))
            return damaged_row(merge, part, row, error);
        memcpy(to->vectors.columns + at, columns, count * sizeof *columns);
        memcpy(to->vectors.values + at, values, count * sizeof *values);
        to->vectors.offsets[merge->row + 1] = at + count;
    }
    merge->row++;
    return COG_OK;
}

static cog_status make_room_for_rows(struct merge *merge, cog_error *error) {
    struct segment_memory *memory = &merge->draft->memory;
    struct segment *segment = &merge->draft->segment;
    size_t rows = merge->size.rows, stride = signature_stride_bytes(index_bits(merge->index));
    segment->rows = rows;
    memory->signatures = memory_array(rows + 1, stride);
    bool fits = memory->signatures;
    segment->signatures =
        (struct signatures_view){memory->signatures, rows, index_bits(merge->index), stride};
    if (merge->index->has_vectors) {
        struct sparse_matrix *vectors = &memory->vectors;
        vectors->rows = rows;
        vectors->column_count = term_numbers_count(merge->index->columns);
        vectors->offsets = memory_zeroed_array(rows + 1, sizeof *vectors->offsets);
        vectors->columns = memory_array(merge->size.entries + 1, sizeof *vectors->columns);
        vectors->values = memory_array(merge->size.entries + 1, sizeof *vectors->values);
        fits = fits && vectors->offsets && vectors->columns && vectors->values;
        segment->vectors = *vectors;
    }
    return fits ? make_room_for_ids(merge->draft, rows, merge->size.id_bytes, error)
                : error_memory(error, rows * stride + merge->size.entries * 8, "merged segments");
}

cog_status segment_draft_merged(const cog_index *index, unsigned threads,
                                struct segment_draft *draft, cog_error *error) {
    struct merge merge = {.index = index, .draft = draft};
    cog_status status = take_settings(index, draft, error);
    THEN(status, visit_live_rows(index, measure_row, &merge, error));
    THEN(status, make_room_for_rows(&merge, error));
    THEN(status, visit_live_rows(index, merge_row, &merge, error));
    THEN(status, index_ids(draft, error));
    return status == COG_OK ? add_method(index, NULL, threads, draft, error) : status;
}

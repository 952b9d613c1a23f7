/* Merges segments into one.
 *
 * Documents with vectors are read back as terms with frequencies and indexed again, some thousand
 * at a time. The result is byte for byte what a build of these documents makes, signed with the
 * current statistics of the index. Signatures without documents are copied, and so are sets, whose
 * posting lists are made again. Ids, signatures, lengths, vectors, sets and lists of the result are
 * in scratch files if the caller gives a location; memory then holds the terms, the tables of the
 * method, and the current documents. */
#include <stdlib.h>
#include <string.h>

#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "jobs/index/index_draft.h"

/* Documents read before they are signed and written. */
enum { BLOCK_ROWS = 4096, BLOCK_TERMS = 1 << 20 };
/* Rows between two checks whether to stop. */
enum { ROWS_AT_ONCE = 1024 };

/* Merges segments first .. first + count of the index. */
struct merge {
    const cog_index *index;
    size_t first, count;
    unsigned threads;
    bool has_weights;      /* the input had some */
    size_t rows, id_bytes; /* of the rows that are not removed */
    uint64_t entries, set_bytes;
    struct segment_draft *draft;
    size_t row; /* the draft's next row */
    /* The destination of the draft's rows. */
    uint64_t *id_offsets, *lengths, *offsets;
    char *ids;
    uint8_t *signatures;
    uint32_t *columns;
    float *values, *margins; /* margins: NULL if no table needs them */
    struct set_row *set_rows;
    uint8_t *sets;
    uint64_t set_end; /* bytes of sets written */
    /* For documents with vectors. */
    struct text_signer signer;
    struct term_numbers *numbers;
    struct part_bags bags;
    struct corpus block;
};

/* Calls `take` for every row of a segment that is not removed, in order. */
typedef cog_status row_taker(struct merge *merge, size_t part, uint32_t row, cog_error *error);
static cog_status visit_part(struct merge *merge, size_t part, row_taker *take, cog_error *error) {
    const struct manifest_entry *entry = &merge->index->parts.manifest.entries[part];
    cog_status status = COG_OK;
    size_t removed = 0;
    for (uint32_t row = 0; row < entry->rows && status == COG_OK; row++) {
        if (row % ROWS_AT_ONCE == 0)
            TRY(threads_check(row, entry->rows, error));
        if (removed < entry->removed_count && entry->removed[removed] == row)
            removed++;
        else
            status = take(merge, part, row, error);
    }
    return status;
}

static cog_status visit_rows(struct merge *merge, row_taker *take, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < merge->count && status == COG_OK; i++)
        status = visit_part(merge, merge->first + i, take, error);
    return status;
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* A row without an id is identified by its number in the whole index. */
static struct bytes_view name_row(const cog_index *index, size_t part, uint32_t row,
                                  char text[NUMBER_DIGITS_MOST]) {
    struct bytes_view id;
    if (segment_id(&index->parts.segments[part], row, &id))
        return id;
    uint64_t first = 0;
    for (size_t i = 0; i < part; i++)
        first += index->parts.manifest.entries[i].rows;
    return view_of(text, number_digits(first + row, text));
}

static cog_status measure_row(struct merge *merge, size_t part, uint32_t row, cog_error *error) {
    const struct segment *segment = &merge->index->parts.segments[part];
    struct bytes_view id = {NULL, 0};
    char text[NUMBER_DIGITS_MOST];
    merge->rows++;
    if (segment->id_offsets && !segment_id(segment, row, &id))
        return segment_damaged_row(segment, row, error);
    merge->id_bytes += segment->id_offsets ? id.size : name_row(merge->index, part, row, text).size;
    if (index_is_of_sets(merge->index)) {
        struct bytes_view record;
        if (!segment->id_offsets || !segment_sets_record(&segment->sets, row, &record))
            return segment_damaged_row(segment, row, error);
        merge->set_bytes += record.size;
        return COG_OK;
    }
    if (!merge->index->has_vectors)
        return COG_OK;
    uint64_t begin = segment->vectors.offsets[row], end = segment->vectors.offsets[row + 1];
    if (begin > end || end > segment_entries(segment))
        return segment_damaged_row(segment, row, error);
    merge->entries += end - begin;
    return COG_OK;
}

/* An array of the draft: separately allocated, or a part of the scratch file. */
struct array {
    void **place;  /* address of the pointer that the merge writes through */
    void **memory; /* address of the pointer that frees it */
    size_t size_bytes;
};

enum { ARRAYS_MAX = 9, ARRAY_ALIGNMENT = 64 };

static size_t aligned(size_t size) {
    return (size + ARRAY_ALIGNMENT) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
}

static cog_status take_arrays(struct segment_draft *draft, const struct array *arrays, size_t count,
                              const char *near_path, cog_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += aligned(arrays[i].size_bytes);
    if (near_path) {
        TRY(scratch_memory_take(near_path, total, &draft->scratch, error));
        draft->scratch_bytes = total;
    }
    char *at = draft->scratch;
    for (size_t i = 0; i < count; i++) {
        if (near_path) {
            *arrays[i].place = at;
            at += aligned(arrays[i].size_bytes);
            continue;
        }
        *arrays[i].place = *arrays[i].memory = calloc(1, arrays[i].size_bytes + 1);
        if (!*arrays[i].memory)
            return error_memory(error, arrays[i].size_bytes, "merged segments");
    }
    return COG_OK;
}

#define ARRAY(pointer, owner, count)                                                               \
    { (void **)&(pointer), (void **)&(owner), (count) * sizeof *(pointer) }

static cog_status make_room(struct merge *merge, const char *near_path, cog_error *error) {
    struct segment_draft *draft = merge->draft;
    struct segment_memory *memory = &draft->memory;
    size_t rows = merge->rows, count = 0, bits = index_bits(merge->index);
    size_t stride = signature_stride_bytes((unsigned)bits);
    bool wants_margins = merge->index->has_vectors && draft_wants_margins(merge->index);
    struct array arrays[ARRAYS_MAX];
    arrays[count++] = (struct array)ARRAY(merge->id_offsets, memory->id_offsets, rows + 1);
    arrays[count++] = (struct array)ARRAY(merge->ids, memory->id_bytes, merge->id_bytes);
    arrays[count++] = (struct array)ARRAY(merge->signatures, memory->signatures, rows * stride);
    if (index_is_of_sets(merge->index)) {
        struct segment_sets *own = &memory->sets;
        arrays[count++] = (struct array)ARRAY(merge->set_rows, own->rows, rows);
        arrays[count++] =
            (struct array)ARRAY(merge->sets, own->bytes, merge->set_bytes + MEMBER_SET_SLACK);
    } else if (merge->index->has_documents && !index_is_of_minhash(merge->index))
        arrays[count++] = (struct array)ARRAY(merge->lengths, memory->lengths, rows + 1);
    if (merge->index->has_vectors) {
        struct sparse_matrix *own = &memory->vectors;
        arrays[count++] = (struct array)ARRAY(merge->offsets, own->offsets, rows + 1);
        arrays[count++] = (struct array)ARRAY(merge->columns, own->columns, merge->entries);
        arrays[count++] = (struct array)ARRAY(merge->values, own->values, merge->entries);
    }
    if (merge->index->has_vectors && near_path)
        arrays[count++] = (struct array)ARRAY(draft->weights, draft->own_weights, merge->entries);
    if (wants_margins)
        arrays[count++] = (struct array)ARRAY(merge->margins, draft->own_margins, rows * bits);
    TRY(take_arrays(draft, arrays, count, near_path, error));
    struct segment *segment = &draft->segment;
    segment->rows = rows;
    segment->id_offsets = merge->id_offsets;
    segment->id_bytes = view_of(merge->ids, merge->id_bytes);
    segment->signatures = (struct signatures_view){merge->signatures, rows, (unsigned)bits, stride};
    segment->lengths = merge->lengths;
    return COG_OK;
}

/* Makes the table of ids; in a file, it is made while writing. */
static cog_status index_ids(const struct merge *merge, cog_error *error) {
    return merge->draft->scratch ? COG_OK : draft_index_ids(merge->draft, error);
}

static void append_id(struct merge *merge, struct bytes_view id) {
    uint64_t at = merge->id_offsets[merge->row];
    if (id.size)
        memcpy(merge->ids + at, id.data, id.size);
    merge->id_offsets[merge->row + 1] = at + id.size;
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static cog_status copy_sets(struct merge *merge, size_t part, uint32_t row, cog_error *error) {
    const struct segment *segment = &merge->index->parts.segments[part];
    struct bytes_view id, record;
    if (!segment_id(segment, row, &id) || !segment_sets_record(&segment->sets, row, &record) ||
        record.size > merge->set_bytes - merge->set_end)
        return segment_damaged_row(segment, row, error);
    append_id(merge, id);
    merge->set_rows[merge->row] = segment->sets.rows[row];
    merge->set_rows[merge->row++].offset = merge->set_end;
    memcpy(merge->sets + merge->set_end, record.data, record.size);
    merge->set_end += record.size;
    return COG_OK;
}

static cog_status merge_sets(struct merge *merge, const char *near_path, cog_error *error) {
    struct segment_draft *draft = merge->draft;
    struct segment_sets sets = {.rows = merge->set_rows,
                                .bytes = merge->sets,
                                .size_bytes = merge->set_bytes + MEMBER_SET_SLACK};
    cog_status status = visit_rows(merge, copy_sets, error);
    THEN(status, index_ids(merge, error));
    THEN(status, segment_sets_list(&sets, merge->rows, merge->threads, near_path, error));
    draft->segment.sets = sets;
    draft->memory.sets.terms = sets.terms;
    draft->memory.sets.words = sets.words;
    return status;
}

/* ---- Documents ------------------------------------------------------------------------------- */

/* Appends the frequencies of the current block to those of the previous blocks. */
static cog_status append_vectors(struct merge *merge, cog_error *error) {
    struct sparse_matrix matrix = {0};
    uint64_t at = merge->offsets[merge->row];
    cog_status status =
        corpus_frequencies_in(&merge->block, merge->numbers, merge->threads, &matrix, error);
    uint64_t count = status == COG_OK ? matrix.offsets[matrix.rows] : 0;
    if (count > merge->entries - at)
        status =
            error_set(error, COG_ERR_FORMAT,
                      "the vectors of segments are damaged; restore the folder from a copy, or "
                      "build the index again");
    if (status == COG_OK && count) {
        memcpy(merge->columns + at, matrix.columns, count * sizeof *matrix.columns);
        memcpy(merge->values + at, matrix.values, count * sizeof *matrix.values);
    }
    for (size_t i = 0; i < merge->block.rows && status == COG_OK; i++)
        merge->offsets[merge->row + i + 1] = at + matrix.offsets[i + 1];
    sparse_matrix_free(&matrix);
    return status;
}

/* Signs and writes the current documents. */
static cog_status finish_block(struct merge *merge, cog_error *error) {
    struct corpus *block = &merge->block;
    size_t bits = index_bits(merge->index), stride = signature_stride_bytes((unsigned)bits);
    const struct signable_rows rows = {.corpus = block, .count = block->rows};
    TRY(rows_sign(&merge->signer, &rows, merge->threads, merge->signatures + merge->row * stride,
                  merge->margins ? merge->margins + merge->row * bits : NULL, bits, error));
    TRY(append_vectors(merge, error));
    for (size_t i = 0; i < block->rows; i++) {
        append_id(merge, corpus_id(block, i));
        merge->lengths[merge->row++] = block->items[i].length;
    }
    block->rows = block->term_count = 0;
    buffer_reset(&block->ids);
    return COG_OK;
}

static cog_status read_row(struct merge *merge, size_t part, uint32_t row, cog_error *error) {
    const struct segment *segment = &merge->index->parts.segments[part];
    struct bytes_view id = {NULL, 0};
    struct bag_view bag;
    TRY(part_bags_read(&merge->bags, row, &bag, error));
    if (merge->has_weights && !bag.weights) /* frequencies serve as weights */
        bag.weights = segment->vectors.values + segment->vectors.offsets[row];
    segment_id(segment, row, &id);
    TRY(corpus_add(&merge->block, id, &bag, error));
    return merge->block.rows < BLOCK_ROWS && merge->block.term_count < BLOCK_TERMS
               ? COG_OK
               : finish_block(merge, error);
}

static cog_status read_documents(struct merge *merge, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < merge->count && status == COG_OK; i++) {
        status = part_bags_open(&merge->bags, merge->index, merge->first + i, error);
        THEN(status, visit_part(merge, merge->first + i, read_row, error));
        part_bags_close(&merge->bags);
    }
    return status == COG_OK && merge->block.rows ? finish_block(merge, error) : status;
}

/* Counts the rows with each column of a part. */
static cog_status count_columns(const struct merge *merge, size_t part, uint32_t *counts,
                                cog_error *error) {
    const struct manifest_entry *entry = &merge->index->parts.manifest.entries[part];
    const uint32_t *columns;
    const float *values;
    size_t count;
    for (uint32_t row = 0; row < entry->rows; row++) {
        if (manifest_is_removed(entry, row))
            continue;
        if (!index_row_vector(merge->index, part, row, &columns, &values, &count))
            return segment_damaged_row(&merge->index->parts.segments[part], row, error);
        for (size_t i = 0; i < count; i++)
            counts[columns[i]]++;
    }
    return COG_OK;
}

/* Counts the terms of the remaining documents, including terms counted 0 times because expected
 * frequencies are rounded. */
static cog_status count_presence(const struct merge *merge, struct statistics *present,
                                 cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < merge->count && status == COG_OK; i++) {
        size_t part = merge->first + i;
        const struct segment_terms *terms = &merge->index->parts.segments[part].terms;
        uint32_t *counts = NULL;
        status = TAKEN_ZEROED(counts, terms->count + 1, "merged segments", error);
        THEN(status, count_columns(merge, part, counts, error));
        for (size_t t = 0; t < terms->count && status == COG_OK; t++) {
            uint32_t rows = counts[terms->numbers[t]];
            if (rows)
                status = statistics_add_term(present, terms->hashes[t],
                                             (struct term_counts){rows, rows}, error);
        }
        free(counts);
    }
    return status;
}

/* Collects the terms of the remaining documents, and numbers their columns. */
static cog_status number_terms(struct merge *merge, cog_error *error) {
    const cog_index *index = merge->index;
    struct segment_terms *terms = &merge->draft->memory.terms;
    struct statistics *own = NULL, *present = NULL;
    cog_status status = statistics_create(&own, error);
    for (size_t i = 0; i < merge->count && status == COG_OK; i++)
        status = index_count_part(own, index, merge->first + i, error);
    if (status == COG_OK && merge->has_weights) {
        status = statistics_create(&present, error);
        THEN(status, count_presence(merge, present, error));
    }
    const struct statistics *numbered = present ? present : own;
    THEN(status, term_numbers_create(numbered, 1, 0, &merge->numbers, error));
    THEN(status, segment_terms_build(numbered, own, merge->numbers, index->statistics->counts,
                                     &index->weighting, terms, error));
    terms->has_weights = merge->has_weights && merge->rows;
    terms->signed_state = index->statistics->state;
    merge->draft->segment.terms = *terms;
    statistics_free(own);
    statistics_free(present);
    return status;
}

static cog_status merge_documents(struct merge *merge, cog_error *error) {
    const cog_index *index = merge->index;
    struct segment_draft *draft = merge->draft;
    bool all = merge->count == index->parts.manifest.count;
    for (size_t i = 0; i < merge->count; i++)
        merge->has_weights |= index->parts.segments[merge->first + i].terms.has_weights;
    cog_status status =
        text_signer_init(&merge->signer, &index->sign, index->statistics->counts, error);
    THEN(status, number_terms(merge, error));
    THEN(status, read_documents(merge, error));
    if (status == COG_OK)
        draft->segment.vectors =
            (struct sparse_matrix){merge->rows, term_numbers_count(merge->numbers), merge->offsets,
                                   merge->columns, merge->values};
    THEN(status, index_ids(merge, error));
    THEN(status, draft_add_tables(index, merge->margins, all ? NULL : &index->parts.segments[0],
                                  merge->threads, draft, error));
    THEN(status, draft_measure_recall(index, NULL, merge->margins, merge->threads, draft, error));
    if (status == COG_OK && !draft->scratch)
        draft->memory.vectors = draft->segment.vectors;
    text_signer_reset(&merge->signer);
    term_numbers_free(merge->numbers);
    corpus_free(&merge->block);
    return status;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

static cog_status merge_row(struct merge *merge, size_t part, uint32_t row, cog_error *error) {
    (void)error;
    const struct segment *from = &merge->index->parts.segments[part];
    size_t stride = merge->draft->segment.signatures.stride_bytes;
    char text[NUMBER_DIGITS_MOST];
    append_id(merge, name_row(merge->index, part, row, text));
    memcpy(merge->signatures + merge->row * stride, signature_row(&from->signatures, row), stride);
    if (merge->lengths)
        merge->lengths[merge->row] = from->lengths[row];
    merge->row++;
    return COG_OK;
}

/* Without vectors the terms of the removed documents are unknown, so all terms stay counted, each
 * in at most the number of remaining documents. */
static cog_status count_terms(const struct merge *merge, struct statistics *own, cog_error *error) {
    uint64_t length = 0;
    for (size_t row = 0; row < merge->rows; row++)
        length += merge->lengths[row];
    statistics_add_documents(own, merge->rows, length);
    for (size_t i = 0; i < merge->count && merge->rows; i++) {
        const struct segment_terms *terms = &merge->index->parts.segments[merge->first + i].terms;
        for (size_t t = 0; t < terms->count; t++) {
            uint32_t before = statistics_find(own, terms->hashes[t]).document_frequency;
            struct term_counts counts = terms->counts[t];
            if (counts.document_frequency == 0)
                continue;
            if (counts.document_frequency > merge->rows - before)
                counts.document_frequency = (uint32_t)(merge->rows - before);
            TRY(statistics_add_term(own, terms->hashes[t], counts, error));
        }
    }
    return COG_OK;
}

static cog_status merge_terms(const struct merge *merge, cog_error *error) {
    struct segment_draft *draft = merge->draft;
    struct statistics *own = NULL;
    struct term_numbers *columns = NULL;
    cog_status status = statistics_create(&own, error);
    THEN(status, count_terms(merge, own, error));
    THEN(status, term_numbers_create(own, 1, 0, &columns, error));
    THEN(status, segment_terms_build(own, own, columns, merge->index->statistics->counts,
                                     &merge->index->weighting, &draft->memory.terms, error));
    draft->segment.terms = draft->memory.terms;
    statistics_free(own);
    term_numbers_free(columns);
    return status;
}

static cog_status merge_signatures(struct merge *merge, cog_error *error) {
    const cog_index *index = merge->index;
    cog_status status = visit_rows(merge, merge_row, error);
    if (status == COG_OK && index->has_documents && !index_is_of_minhash(index))
        status = merge_terms(merge, error);
    THEN(status, index_ids(merge, error));
    THEN(status, draft_add_tables(index, NULL, &index->parts.segments[0], merge->threads,
                                  merge->draft, error));
    THEN(status, draft_measure_recall(index, NULL, NULL, merge->threads, merge->draft, error));
    return status;
}

cog_status segment_draft_merged(const cog_index *index, size_t first, size_t count,
                                unsigned threads, const char *near_path,
                                struct segment_draft *draft, cog_error *error) {
    struct merge merge = {
        .index = index, .first = first, .count = count, .threads = threads, .draft = draft};
    TRY(draft_take_settings(index, draft, error));
    TRY(visit_rows(&merge, measure_row, error));
    TRY(make_room(&merge, near_path, error));
    if (index_is_of_sets(index))
        return merge_sets(&merge, near_path, error);
    return index->has_vectors ? merge_documents(&merge, error) : merge_signatures(&merge, error);
}

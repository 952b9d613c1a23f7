/* Segments merged into one.
 *
 * Documents with vectors are read back as terms with their frequencies and indexed again: the
 * result is, byte for byte, what a build of these documents makes of them, signed by the statistics
 * that the index has now. Signatures alone are copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/index/index_draft.h"

/* Segments first .. first + count of the index. */
struct merge {
    const cog_index *index;
    size_t first, count;
    size_t rows, id_bytes; /* of the rows that stay */
    struct segment_draft *draft;
    size_t row; /* next of the draft */
};

/* Calls take for every row of a segment that stays, in order. */
typedef cog_status row_taker(void *context, size_t part, uint32_t row, cog_error *error);
static cog_status visit_part(const cog_index *index, size_t part, row_taker *take, void *context,
                             cog_error *error) {
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    cog_status status = COG_OK;
    size_t removed = 0;
    for (uint32_t row = 0; row < entry->rows && status == COG_OK; row++) {
        if (removed < entry->removed_count && entry->removed[removed] == row)
            removed++;
        else
            status = take(context, part, row, error);
    }
    return status;
}

static cog_status visit_rows(const struct merge *merge, row_taker *take, void *context,
                             cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < merge->count && status == COG_OK; i++)
        status = visit_part(merge->index, merge->first + i, take, context, error);
    return status;
}

/* ---- Documents ------------------------------------------------------------------------------- */

struct reading {
    struct part_bags bags;
    struct corpus corpus;
};

static cog_status read_row(void *context, size_t part, uint32_t row, cog_error *error) {
    struct reading *reading = context;
    const struct segment *segment = &reading->bags.index->parts.segments[part];
    struct bytes_view id = {NULL, 0};
    struct bag_view bag;
    TRY(part_bags_read(&reading->bags, row, &bag, error));
    if (!segment_id(segment, row, &id))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: the id of row %u is damaged; cognate index check tells more",
                         segment->container.path, row);
    return corpus_add(&reading->corpus, id, &bag, error);
}

static cog_status merge_documents(const struct merge *merge, unsigned threads, cog_error *error) {
    const cog_index *index = merge->index;
    struct reading reading = {0};
    cog_status status = COG_OK;
    for (size_t part = merge->first; part < merge->first + merge->count && status == COG_OK;
         part++) {
        status = part_bags_open(&reading.bags, index, part, error);
        THEN(status, visit_part(index, part, read_row, &reading, error));
        part_bags_close(&reading.bags);
    }
    bool all = merge->count == index->parts.manifest.count;
    THEN(status,
         segment_draft_documents(index, &reading.corpus, all ? NULL : &index->parts.segments[0],
                                 threads, merge->draft, error));
    corpus_free(&reading.corpus);
    return status;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

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
    (void)error;
    struct merge *merge = context;
    char text[24];
    merge->rows++;
    merge->id_bytes += name_row(merge->index, part, row, text).size;
    return COG_OK;
}

static cog_status merge_row(void *context, size_t part, uint32_t row, cog_error *error) {
    (void)error;
    struct merge *merge = context;
    const struct segment *from = &merge->index->parts.segments[part];
    struct segment_memory *to = &merge->draft->memory;
    size_t stride = merge->draft->segment.signatures.stride_bytes;
    char text[24];
    draft_append_id(merge->draft, merge->row, name_row(merge->index, part, row, text));
    memcpy(to->signatures + merge->row * stride, signature_row(&from->signatures, row), stride);
    if (to->lengths)
        to->lengths[merge->row] = from->lengths[row];
    merge->row++;
    return COG_OK;
}

static cog_status make_room(struct merge *merge, cog_error *error) {
    struct segment_memory *memory = &merge->draft->memory;
    struct segment *segment = &merge->draft->segment;
    size_t stride = signature_stride_bytes(index_bits(merge->index));
    segment->rows = merge->rows;
    TAKE(memory->signatures, merge->rows * stride, "merged segments", error);
    segment->signatures =
        (struct signatures_view){memory->signatures, merge->rows, index_bits(merge->index), stride};
    if (merge->index->has_documents)
        TAKE(memory->lengths, merge->rows + 1, "merged segments", error);
    return draft_make_room_for_ids(merge->draft, merge->rows, merge->id_bytes, error);
}

/* Without vectors nobody knows which terms went with the removed documents: all stay counted, in at
 * most as many documents as there are. */
static cog_status count_terms(const struct merge *merge, struct statistics *own, cog_error *error) {
    const struct segment_memory *memory = &merge->draft->memory;
    uint64_t length = 0;
    for (size_t row = 0; row < merge->rows; row++)
        length += memory->lengths[row];
    statistics_add_documents(own, merge->rows, length);
    for (size_t i = 0; i < merge->count && merge->rows; i++) {
        const struct segment_terms *terms = &merge->index->parts.segments[merge->first + i].terms;
        for (size_t t = 0; t < terms->count; t++) {
            uint32_t before = statistics_find(own, terms->hashes[t]).document_frequency;
            struct term_counts counts = terms->counts[t];
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
    THEN(status, segment_terms_build(own, columns, merge->index->statistics->counts,
                                     &merge->index->weighting, &draft->memory.terms, error));
    draft->segment.terms = draft->memory.terms;
    draft->segment.lengths = draft->memory.lengths;
    statistics_free(own);
    term_numbers_free(columns);
    return status;
}

static cog_status merge_signatures(struct merge *merge, unsigned threads, cog_error *error) {
    const cog_index *index = merge->index;
    cog_status status = draft_take_settings(index, merge->draft, error);
    THEN(status, visit_rows(merge, measure_row, merge, error));
    THEN(status, make_room(merge, error));
    THEN(status, visit_rows(merge, merge_row, merge, error));
    if (status == COG_OK && index->has_documents)
        status = merge_terms(merge, error);
    THEN(status, draft_index_ids(merge->draft, error));
    THEN(status,
         draft_add_tables(index, NULL, &index->parts.segments[0], threads, merge->draft, error));
    THEN(status, draft_measure_recall(index, NULL, NULL, threads, merge->draft, error));
    return status;
}

cog_status segment_draft_merged(const cog_index *index, size_t first, size_t count,
                                unsigned threads, struct segment_draft *draft, cog_error *error) {
    struct merge merge = {.index = index, .first = first, .count = count, .draft = draft};
    return index->has_vectors ? merge_documents(&merge, threads, error)
                              : merge_signatures(&merge, threads, error);
}

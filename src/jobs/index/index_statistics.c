/* The statistics of an index: the sum of the statistics of its segments minus the removed
 * documents. They grow and shrink with the index; queries and rows are weighed with the current
 * values. */
#include <stdlib.h>

#include "base/memory.h"
#include "collection/statistics_job.h"
#include "jobs/index/index_job.h"

/* ---- Rows as bags ---------------------------------------------------------------------------- */

size_t index_part_of(const cog_index *index, uint32_t row, uint64_t *first_row) {
    size_t part = 0;
    *first_row = 0;
    while (part + 1 < index->parts.manifest.count &&
           row - *first_row >= index->parts.manifest.entries[part].rows)
        *first_row += index->parts.manifest.entries[part++].rows;
    return part;
}

bool index_row_vector(const cog_index *index, size_t part, uint32_t row, const uint32_t **columns,
                      const float **values, size_t *count) {
    const struct segment *segment = &index->parts.segments[part];
    const struct sparse_matrix *vectors = &segment->vectors;
    if (segment->container.data) /* from a file */
        return segment_vector(segment, row, columns, values, count);
    uint64_t begin = vectors->offsets[row];
    *columns = vectors->columns + begin;
    *values = vectors->values + begin;
    *count = (size_t)(vectors->offsets[row + 1] - begin);
    return true;
}

cog_status part_bags_open(struct part_bags *bags, const cog_index *index, size_t part,
                          cog_error *error) {
    *bags = (struct part_bags){.index = index, .part = part};
    return segment_terms_by_column(&index->parts.segments[part].terms, &bags->hashes_by_column,
                                   error);
}

void part_bags_close(struct part_bags *bags) {
    FREE(bags->hashes_by_column, bags->hashes, bags->frequencies);
    *bags = (struct part_bags){0};
}

cog_status part_bags_read(struct part_bags *bags, uint32_t row, struct bag_view *bag,
                          cog_error *error) {
    const struct segment *segment = &bags->index->parts.segments[bags->part];
    const uint32_t *columns;
    const float *values;
    size_t count;
    if (!index_row_vector(bags->index, bags->part, row, &columns, &values, &count))
        return segment_damaged_row(segment, row, error);
    GROW(bags->hashes, bags->hash_capacity, count + 1, "a document's terms", error);
    GROW(bags->frequencies, bags->frequency_capacity, count + 1, "a document's terms", error);
    for (size_t i = 0; i < count; i++) {
        bags->hashes[i] = bags->hashes_by_column[columns[i]];
        bags->frequencies[i] = bag_frequency(values[i]);
    }
    *bag = (struct bag_view){bags->hashes, bags->frequencies, count, segment->lengths[row],
                             segment->terms.has_weights ? values : NULL};
    if (bag->weights && bags->index->is_multilingual)
        bag_round_expected(bag, bags->frequencies);
    return COG_OK;
}

/* ---- Counting -------------------------------------------------------------------------------- */

enum counting { COUNT_IN, COUNT_OUT };

static cog_status count_term(struct statistics *counts, enum counting way, uint64_t hash,
                             struct term_counts of_term, cog_error *error) {
    if (of_term.collection_frequency == 0) /* an expected frequency rounded to 0 */
        return COG_OK;
    if (way == COUNT_IN)
        return statistics_add_term(counts, hash, of_term, error);
    statistics_remove_term(counts, hash, of_term);
    return COG_OK;
}

static void count_documents(struct statistics *counts, enum counting way, uint64_t documents,
                            uint64_t length) {
    if (way == COUNT_IN)
        statistics_add_documents(counts, documents, length);
    else
        statistics_remove_documents(counts, documents, length);
}

static cog_status count_terms(struct statistics *counts, enum counting way,
                              const struct segment *segment, cog_error *error) {
    const struct segment_terms *terms = &segment->terms;
    count_documents(counts, way, segment->rows, terms->total_length);
    for (size_t i = 0; i < terms->count; i++) {
        enum { AHEAD = 16 };
        if (i + AHEAD < terms->count)
            statistics_prefetch(counts, terms->hashes[i + AHEAD]);
        TRY(count_term(counts, way, terms->hashes[i], terms->counts[i], error));
    }
    return COG_OK;
}

/* Counts rows of a part. Without vectors their terms are unknown and stay counted. */
static cog_status count_rows(struct statistics *counts, enum counting way, const cog_index *index,
                             size_t part, const uint32_t *rows, size_t count, cog_error *error) {
    struct part_bags bags = {0};
    for (size_t i = 0; i < count; i++)
        count_documents(counts, way, 1, index->parts.segments[part].lengths[rows[i]]);
    if (count == 0 || !index->has_vectors)
        return COG_OK;
    cog_status status = part_bags_open(&bags, index, part, error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        struct bag_view bag = {0};
        status = part_bags_read(&bags, rows[i], &bag, error);
        for (size_t t = 0; t < bag.count && status == COG_OK; t++)
            status = count_term(counts, way, bag.hashes[t],
                                (struct term_counts){1, bag.frequencies[t]}, error);
    }
    part_bags_close(&bags);
    return status;
}

/* Counts a part without its removed rows. Counts stop at zero, so add before subtracting. */
static cog_status count_part(struct statistics *counts, enum counting way, const cog_index *index,
                             size_t part, cog_error *error) {
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    const struct segment *segment = &index->parts.segments[part];
    if (index_is_of_minhash(index))
        return COG_OK;
    if (way == COUNT_IN)
        TRY(count_terms(counts, COUNT_IN, segment, error));
    TRY(count_rows(counts, way == COUNT_IN ? COUNT_OUT : COUNT_IN, index, part, entry->removed,
                   entry->removed_count, error));
    return way == COUNT_OUT ? count_terms(counts, COUNT_OUT, segment, error) : COG_OK;
}

cog_status index_count_part(struct statistics *counts, const cog_index *index, size_t part,
                            cog_error *error) {
    return count_part(counts, COUNT_IN, index, part, error);
}

cog_status index_start_statistics(cog_index *index, cog_error *error) {
    TAKE_ZEROED(index->statistics, 1, "statistics", error);
    TRY(statistics_create(&index->statistics->counts, error));
    return options_record_terms(&index->sign.terms, &index->statistics->terms, error);
}

cog_status index_count_statistics(cog_index *index, cog_error *error) {
    cog_status status = index_start_statistics(index, error);
    for (size_t part = 0; part < index->parts.manifest.count && status == COG_OK; part++)
        status = count_part(index->statistics->counts, COUNT_IN, index, part, error);
    return status;
}

/* The statistics to change; a copy if they are shared. */
static cog_status counted(cog_index *index, size_t changes, struct statistics **counts,
                          cog_error *error) {
    index->uncounted += changes;
    if (!index->exact && statistics_are_shared(index->statistics)) {
        cog_statistics *own = NULL;
        TRY(statistics_copy(index->statistics, &own, error));
        statistics_release(index->statistics);
        index->statistics = own;
    }
    *counts = (index->exact ? index->exact : index->statistics)->counts;
    return COG_OK;
}

static bool keeps_statistics(const cog_index *index) {
    return index->has_documents && index->measure == COG_MEASURE_COSINE;
}

cog_status index_count_rows(cog_index *index, const uint64_t *rows, size_t count, bool in,
                            cog_error *error) {
    struct statistics *counts;
    if (!keeps_statistics(index))
        return COG_OK;
    cog_status status = counted(index, count, &counts, error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        uint64_t first_row;
        size_t part = index_part_of(index, (uint32_t)rows[i], &first_row);
        uint32_t row = (uint32_t)(rows[i] - first_row);
        status = count_rows(counts, in ? COUNT_IN : COUNT_OUT, index, part, &row, 1, error);
    }
    return status;
}

cog_status index_count_corpus(cog_index *index, const struct corpus *corpus, bool in,
                              cog_error *error) {
    struct statistics *counts;
    enum counting way = in ? COUNT_IN : COUNT_OUT;
    if (!keeps_statistics(index))
        return COG_OK;
    TRY(counted(index, corpus->rows, &counts, error));
    for (size_t row = 0; row < corpus->rows; row++) {
        struct bag_view bag = corpus_bag(corpus, row);
        count_documents(counts, way, 1, bag.length);
        for (size_t i = 0; i < bag.count; i++)
            TRY(count_term(counts, way, bag.hashes[i], (struct term_counts){1, bag.frequencies[i]},
                           error));
    }
    return COG_OK;
}

/* ---- From one state to the next -------------------------------------------------------------- */

/* The part of the index with the same segment; the number of parts if there is none. */
static size_t same_part(const cog_index *index, const struct manifest_entry *entry) {
    size_t part = 0;
    for (; part < index->parts.manifest.count; part++) {
        const struct manifest_entry *own = &index->parts.manifest.entries[part];
        if (!own->is_pending && own->number == entry->number &&
            own->header_checksum == entry->header_checksum)
            break;
    }
    return part;
}

/* Subtracts rows that are removed now but were not before. */
static cog_status count_newly_removed(struct statistics *counts, const cog_index *now, size_t part,
                                      const struct manifest_entry *before, cog_error *error) {
    const struct manifest_entry *entry = &now->parts.manifest.entries[part];
    uint32_t *rows;
    size_t count = 0;
    if (index_is_of_minhash(now) || entry->removed_count == before->removed_count)
        return COG_OK;
    TAKE(rows, entry->removed_count, "removed rows", error);
    for (size_t i = 0; i < entry->removed_count; i++)
        if (!manifest_is_removed(before, entry->removed[i]))
            rows[count++] = entry->removed[i];
    cog_status status = count_rows(counts, COUNT_OUT, now, part, rows, count, error);
    free(rows);
    return status;
}

cog_status index_follow_statistics(const cog_index *now, const cog_index *before,
                                   cog_error *error) {
    struct statistics *counts = (before->exact ? before->exact : before->statistics)->counts;
    size_t old_parts = before->parts.manifest.count;
    cog_status status = COG_OK;
    for (size_t part = 0; part < now->parts.manifest.count && status == COG_OK; part++) {
        size_t old = same_part(before, &now->parts.manifest.entries[part]);
        status = old == old_parts
                     ? count_part(counts, COUNT_IN, now, part, error)
                     : count_newly_removed(counts, now, part, &before->parts.manifest.entries[old],
                                           error);
    }
    for (size_t old = 0; old < old_parts && status == COG_OK; old++)
        if (same_part(now, &before->parts.manifest.entries[old]) == now->parts.manifest.count)
            status = count_part(counts, COUNT_OUT, before, old, error);
    return status;
}

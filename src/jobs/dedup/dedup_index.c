#include "jobs/dedup/dedup_index.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "jobs/pairs/set_memory.h"
#include "jobs/pairs/set_pairs.h"
#include "jobs/search/set_search.h"

/* Memory per document in addition to its set: its twin, the twin's row, the decision. */
enum { BYTES_PER_DOCUMENT = 48 };

cog_status dedup_index_check(const cog_dedup_options *options, cog_error *error) {
    const cog_index *index = options->against_index;
    if (options->against)
        return error_about(error, COG_ERR_USAGE, "against",
                           "both a reference collection and an index are given: give one of them");
    if (!index_is_of_sets(index) || !pairs_are_by_sets(&options->pairs) ||
        index->measure != options->pairs.measure)
        return error_about(error, COG_ERR_USAGE, "against",
                           "the index was built with a different measure, or contains only "
                           "signatures: build one with the measure jaccard or containment, and "
                           "compare exactly by the same measure");
    TRY(cog_index_expect(index, &options->pairs.sign, error));
    return index_prepare(index, error);
}

/* ---- All documents --------------------------------------------------------------------------- */

cog_status dedup_index_append(const cog_index *index, struct document_sets *sets,
                              cog_error *error) {
    return document_sets_wants_next(sets) ? index_append_sets(index, 0, UINT64_MAX, sets, error)
                                          : COG_OK;
}

/* The hash of documents that are only in the log: their sets and ids. */
static uint64_t pending_identity(const struct segment *segment, uint64_t rows) {
    uint64_t hash = hash_bytes(segment->sets.bytes, (size_t)segment->sets.size_bytes);
    for (size_t row = 0; row < rows; row++) {
        struct bytes_view id = {"", 0};
        if (segment_id(segment, row, &id))
            hash = hash_pair(hash, hash_bytes(id.data, id.size));
    }
    return hash;
}

uint64_t dedup_index_identity(const cog_index *index) {
    uint64_t hash = index->parts.manifest.count;
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        hash = hash_pair(hash, entry->rows);
        hash = hash_pair(hash, entry->is_pending
                                   ? pending_identity(&index->parts.segments[part], entry->rows)
                                   : entry->header_checksum);
        for (size_t i = 0; i < entry->removed_count; i++)
            hash = hash_pair(hash, entry->removed[i]);
    }
    return hash;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

struct index_dedup {
    const cog_index *index;
    struct set_measure measure;
    struct duplicates *duplicates;
    const struct fingerprint *prints; /* of the input; used for texts without terms */
    struct set_search *searches;      /* one per worker */
    struct loaded_sets *loaded;       /* one per worker */
    struct set_twin *twins;           /* by row of the input */
    uint64_t *rows;                   /* of twins in the index, ascending */
    size_t row_count;
};

static cog_status look_up(void *context, unsigned worker, size_t begin, size_t end,
                          cog_error *error) {
    struct index_dedup *dedup = context;
    struct loaded_sets *loaded = &dedup->loaded[worker];
    for (size_t row = begin; row < end; row++) {
        TRY(set_file_load(&dedup->duplicates->sets.file, row, loaded, error));
        const struct document_set set = {loaded->terms,
                                         loaded->words,
                                         loaded->term_count,
                                         loaded->word_count,
                                         {dedup->prints[row].low, dedup->prints[row].high}};
        TRY(set_search_earliest(&dedup->searches[worker], dedup->index, &dedup->measure, &set,
                                &dedup->twins[row], error));
    }
    return COG_OK;
}

static cog_status look_up_all(struct index_dedup *dedup, struct job *job, cog_error *error) {
    enum { GRAIN = 16 };
    const size_t count = dedup->duplicates->count;
    uint64_t compared = 0, postings = 0;
    cog_status status = TAKEN_ZEROED(dedup->searches, job->threads, "searches", error);
    THEN(status, TAKEN_ZEROED(dedup->loaded, job->threads, "searches", error));
    THEN(status, TAKEN(dedup->twins, count, "documents", error));
    job_stage(job, "searching");
    THEN(status, parallel_for(job->threads, count, GRAIN, look_up, dedup, error));
    job_stage(job, NULL);
    for (unsigned i = 0; dedup->searches && dedup->loaded && i < job->threads; i++) {
        compared += dedup->searches[i].compared;
        postings += dedup->searches[i].postings;
        set_search_free(&dedup->searches[i]);
        loaded_sets_free(&dedup->loaded[i]);
    }
    report_number(job->report, "comparisons", (double)postings);
    report_number(job->report, "candidates", (double)compared);
    return status;
}

/* ---- Twins ----------------------------------------------------------------------------------- */

/* The position of a row among the index's rows that are not removed. */
static uint64_t position_of(const cog_index *index, uint64_t row) {
    uint64_t first_row, position = 0;
    const size_t part = index_part_of(index, (uint32_t)row, &first_row);
    const struct manifest_entry *entries = index->parts.manifest.entries;
    for (size_t i = 0; i < part; i++)
        position += entries[i].rows - entries[i].removed_count;
    size_t removed;
    FIND_FIRST_NOT(removed, 0, entries[part].removed_count,
                   entries[part].removed[removed] < row - first_row);
    return position + (row - first_row) - removed;
}

static cog_status add_twin(struct index_dedup *dedup, uint64_t row, struct set_batch *batch,
                           struct loaded_sets *loaded, cog_error *error) {
    uint64_t first_row;
    const size_t part = index_part_of(dedup->index, (uint32_t)row, &first_row);
    struct bytes_view id;
    struct document_set set;
    TRY(index_read_set(dedup->index, part, (uint32_t)(row - first_row), loaded, &id, &set, error));
    return set_batch_add_set(batch, &set, id, (uint32_t)position_of(dedup->index, row), error);
}

/* Appends the twins, each once, to the documents of the input. */
static cog_status add_twins(struct index_dedup *dedup, cog_error *error) {
    struct duplicates *duplicates = dedup->duplicates;
    struct set_batch batch = {0};
    struct loaded_sets loaded = {0};
    TAKE(dedup->rows, duplicates->count, "documents", error);
    for (size_t row = 0; row < duplicates->count; row++)
        if (dedup->twins[row].row != UINT64_MAX)
            dedup->rows[dedup->row_count++] = dedup->twins[row].row;
    dedup->row_count = sort_distinct_u64(dedup->rows, dedup->row_count);
    cog_status status = COG_OK;
    for (size_t i = 0; i < dedup->row_count && status == COG_OK; i++)
        status = add_twin(dedup, dedup->rows[i], &batch, &loaded, error);
    THEN(status, document_sets_append(&duplicates->sets, &batch, error));
    set_batch_free(&batch);
    loaded_sets_free(&loaded);
    return status;
}

static void decide(struct index_dedup *dedup) {
    struct duplicates *duplicates = dedup->duplicates;
    for (size_t row = 0; row < duplicates->count; row++) {
        const struct set_twin *twin = &dedup->twins[row];
        if (twin->row == UINT64_MAX)
            continue;
        const uint64_t *place =
            bsearch(&twin->row, dedup->rows, dedup->row_count, sizeof twin->row, compare_u64);
        duplicates->twin[row] = (uint32_t)(duplicates->count + (size_t)(place - dedup->rows));
        duplicates->similarity[row] = (float)twin->similarity;
        duplicates->reason[row] = twin->is_equal ? REASON_IDENTICAL : REASON_NEAR;
    }
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status read_documents(struct index_dedup *dedup, cog_documents *documents,
                                 struct output *rejects, const char *near_path, struct job *job,
                                 cog_error *error) {
    struct duplicates *duplicates = dedup->duplicates;
    cog_documents *const collections[2] = {documents, NULL};
    cog_index_info info;
    uint64_t room;
    /* Nothing is joined, so there are no prefixes. */
    TRY(set_memory_announce_disk(collections, &dedup->index->terms, 1, 0, job, error));
    TRY(document_sets_open(&duplicates->sets, near_path, error));
    TRY(document_sets_read(&duplicates->sets, documents, &dedup->index->terms, true, rejects, job,
                           error));
    duplicates->by_reference = true;
    duplicates->count = duplicates->sets.count;
    cog_index_describe(dedup->index, &info);
    duplicates_report_sets(duplicates, info.rows, duplicates->count, job->report);
    return set_memory_room(&duplicates->sets, (uint64_t)duplicates->count * BYTES_PER_DOCUMENT, job,
                           &room, error);
}

cog_status dedup_by_index(cog_documents *documents, const cog_dedup_options *options,
                          struct output *rejects, const char *near_path, struct job *job,
                          struct duplicates *duplicates, cog_error *error) {
    struct index_dedup dedup = {
        .index = options->against_index,
        .measure = {options->pairs.measure == COG_MEASURE_CONTAINMENT, options->pairs.threshold},
        .duplicates = duplicates};
    cog_status status = read_documents(&dedup, documents, rejects, near_path, job, error);
    dedup.prints = duplicates->sets.fingerprints;
    THEN(status, look_up_all(&dedup, job, error));
    THEN(status, add_twins(&dedup, error));
    THEN(status, duplicates_init(duplicates, duplicates->count, error));
    if (status == COG_OK)
        decide(&dedup);
    FREE(dedup.searches, dedup.loaded, dedup.twins, dedup.rows);
    return status;
}

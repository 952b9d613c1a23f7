#include "jobs/index/index_pending.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "collection/statistics_job.h"
#include "index/merging.h"
#include "jobs/index/index_weights.h"
#include "run/report.h"

/* ---- Pending documents ----------------------------------------------------------------------- */

struct pending_id {
    uint64_t hash;
    uint32_t row; /* plus 1; 0: free */
};

void pending_free(struct index_pending *pending) {
    corpus_free(&pending->corpus);
    free(pending->is_removed);
    free(pending->ids);
    *pending = (struct index_pending){0};
}

size_t pending_count(const struct index_pending *pending) {
    size_t count = 0;
    for (size_t row = 0; row < pending->corpus.rows; row++)
        count += !pending->is_removed[row];
    return count;
}

/* The slot of an id, or the free slot that it would take. The table is not empty. */
static struct pending_id *find_slot(const struct index_pending *pending, struct bytes_view id,
                                    uint64_t hash) {
    size_t at;
    HASH_PROBE(at, hash, pending->id_slots,
               !pending->ids[at].row ||
                   (pending->ids[at].hash == hash &&
                    view_equals(corpus_id(&pending->corpus, pending->ids[at].row - 1), id)));
    return &pending->ids[at];
}

/* The row of an id if it is not removed; SIZE_MAX if there is none. */
static size_t pending_row(const struct index_pending *pending, struct bytes_view id) {
    if (!pending->ids)
        return SIZE_MAX;
    const struct pending_id *slot = find_slot(pending, id, hash_bytes(id.data, id.size));
    return slot->row && !pending->is_removed[slot->row - 1] ? slot->row - 1 : SIZE_MAX;
}

bool pending_has(const struct index_pending *pending, struct bytes_view id) {
    return pending_row(pending, id) != SIZE_MAX;
}

static cog_status grow_ids(struct index_pending *pending, cog_error *error) {
    enum { LEAST_SLOTS = 64 };
    size_t slots = hash_slots(pending->corpus.rows + 1, LEAST_SLOTS);
    if (slots <= pending->id_slots)
        return COG_OK;
    struct pending_id *grown;
    TAKE_ZEROED(grown, slots, "ids", error);
    for (size_t i = 0; i < pending->id_slots; i++) {
        size_t at;
        if (!pending->ids[i].row)
            continue;
        HASH_PROBE(at, pending->ids[i].hash, slots, !grown[at].row);
        grown[at] = pending->ids[i];
    }
    free(pending->ids);
    pending->ids = grown;
    pending->id_slots = slots;
    return COG_OK;
}

static cog_status pending_add(struct index_pending *pending, struct bytes_view id,
                              const struct bag_view *bag, cog_error *error) {
    uint64_t hash = hash_bytes(id.data, id.size);
    size_t row = pending->corpus.rows;
    TRY(grow_ids(pending, error));
    GROW(pending->is_removed, pending->removed_capacity, row + 1, "documents", error);
    struct pending_id *slot = find_slot(pending, id, hash);
    TRY(corpus_add(&pending->corpus, id, bag, error));
    pending->is_removed[row] = 0;
    *slot = (struct pending_id){hash, (uint32_t)row + 1};
    return COG_OK;
}

/* Moves the documents that are not removed, in order, to *corpus, which must be zeroed. Nothing is
 * pending afterwards. */
static void pending_take(struct index_pending *pending, struct corpus *corpus) {
    size_t kept = 0;
    *corpus = pending->corpus;
    for (size_t row = 0; row < corpus->rows; row++)
        if (!pending->is_removed[row])
            corpus->items[kept++] = corpus->items[row];
    corpus->rows = kept;
    pending->corpus = (struct corpus){0};
    pending_free(pending);
}

/* ---- Applying -------------------------------------------------------------------------------- */

static cog_status apply_removal(cog_index *index, struct bytes_view id, cog_error *error) {
    size_t waiting = pending_row(&index->pending, id);
    uint64_t row;
    if (waiting != SIZE_MAX) {
        index->pending.is_removed[waiting] = 1;
        return COG_OK;
    }
    TRY(index_find_ids(index, &id, 1, &row, error));
    if (row == UINT64_MAX)
        return COG_OK; /* a merge has already left it out */
    if (index->statistics)
        TRY(index_count_rows(index, &row, 1, false, error));
    return manifest_remove_rows(&index->parts.manifest, &row, 1, error);
}

/* Documents belong to an index of documents, and signatures of its width to one of signatures. */
static cog_status check_addition(const cog_index *index, const struct changes *changes,
                                 cog_error *error) {
    size_t words = signature_stride_bytes(index_bits(index)) / sizeof(uint64_t);
    if (changes->is_signature ? !index->has_documents && changes->bag.count == words
                              : index->has_documents)
        return COG_OK;
    return error_set(error, COG_ERR_FORMAT,
                     "%s: belongs to another index; restore the folder from a copy",
                     index->log.path);
}

static cog_status apply_addition(cog_index *index, const struct changes *changes,
                                 cog_error *error) {
    TRY(check_addition(index, changes, error));
    return pending_add(&index->pending, changes->id, &changes->bag, error);
}

cog_status index_apply_changes(cog_index *index, struct bytes_view payload, cog_error *error) {
    struct changes changes = {.payload = payload};
    bool end = false;
    cog_status status = COG_OK;
    __atomic_store_n(&index->is_prepared, false, __ATOMIC_RELEASE);
    while (status == COG_OK && !end) {
        status = changes_next(&changes, index->log.path, &end, error);
        if (status != COG_OK || end)
            break;
        status = changes.is_removal ? apply_removal(index, changes.id, error)
                                    : apply_addition(index, &changes, error);
    }
    changes_free(&changes);
    return status;
}

cog_status index_read_log(cog_index *index, cog_error *error) {
    struct buffer buffer = {0};
    struct bytes_view payload;
    cog_status status = COG_OK;
    bool found = index->log.descriptor >= 0;
    while (status == COG_OK && found) {
        status = change_log_next(&index->log, &buffer, &payload, &found, error);
        if (status == COG_OK && found)
            status = index_apply_changes(index, payload, error);
    }
    buffer_free(&buffer);
    uint64_t torn;
    if (status == COG_OK && index->log.descriptor >= 0)
        status = change_log_check_end(&index->log, &torn, error);
    return status;
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static cog_status prepare_statistics(cog_index *index, cog_error *error) {
    if (index_is_of_sets(index) || !index->has_documents)
        return COG_OK;
    if (!index->statistics) {
        cog_status status = index_count_statistics(index, error);
        if (status != COG_OK) {
            statistics_release(index->statistics);
            index->statistics = NULL;
            return status;
        }
    }
    if (!index->is_live || index->exact)
        return COG_OK;
    index->uncounted = 0;
    statistics_assign_state(index->statistics);
    return statistics_copy(index->statistics, &index->exact, error);
}

/* The statistics of a live index may miss one document in 64, because a copy takes time
 * proportional to the whole vocabulary and discards the weights based on the old one. */
static cog_status renew_statistics(cog_index *index, cog_error *error) {
    enum { MOST_UNCOUNTED = 64 };
    if (!index->exact ||
        index->uncounted * MOST_UNCOUNTED <= statistics_document_count(index->statistics->counts))
        return COG_OK;
    cog_statistics *fresh = NULL;
    TRY(statistics_copy(index->exact, &fresh, error));
    statistics_assign_state(fresh);
    statistics_release(index->statistics);
    index->statistics = fresh;
    index->uncounted = 0;
    return index_reset_weights(index, error);
}

enum { PENDING_TIER = 4 }; /* pending segments of about equal size that are merged */

/* The number of pending segments at the end whose tier is not higher than that of the last one. */
static size_t tier_length(const cog_index *index) {
    const struct manifest *manifest = &index->parts.manifest;
    size_t length = 0;
    unsigned tier = 0;
    while (length < manifest->count) {
        const struct manifest_entry *entry = &manifest->entries[manifest->count - 1 - length];
        const unsigned own = merging_tier(entry->rows, PENDING_TIER);
        if (length == 0)
            tier = own;
        if (!entry->is_pending || own > tier)
            break;
        length++;
    }
    return length;
}

/* Merges the last pending segments while there are many of about equal size. */
static cog_status index_merge_pending(cog_index *index, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t length; status == COG_OK && (length = tier_length(index)) >= PENDING_TIER;) {
        struct segment_draft draft = {0};
        size_t first = index->parts.manifest.count - length;
        status = segment_draft_merged(index, first, length, 1, NULL, &draft, error);
        THEN(status, index_take_draft(index, &draft, true, error));
        if (status == COG_OK)
            index_segments_put_last(&index->parts, first, length);
        THEN(status, index_reset_weights(index, error));
        segment_draft_free(&draft);
    }
    return status;
}

/* Makes the last segment from the pending documents or signatures. If this fails half-way, the
 * handle loses them and reads its folder again. */
static cog_status prepare_segment(cog_index *index, cog_error *error) {
    struct segment_draft draft = {0};
    struct corpus corpus = {0};
    if (pending_count(&index->pending) == 0)
        return COG_OK;
    pending_take(&index->pending, &corpus);
    const struct segment *earlier = index->parts.manifest.count ? index->parts.segments : NULL;
    cog_status status = index_count_corpus(index, &corpus, true, error);
    THEN(status, segment_draft_documents(index, &corpus, earlier, 1, &draft, error));
    THEN(status, index_take_draft(index, &draft, true, error));
    segment_draft_free(&draft);
    corpus_free(&corpus);
    return status == COG_OK ? index_merge_pending(index, error) : status;
}

/* After a failure half-way the handle is not at the end of a frame, so it reads everything again.
 */
static void lose_place(cog_index *index) {
    if (index->manifest_file >= 0)
        close(index->manifest_file);
    index->manifest_file = -1;
    statistics_release(index->statistics);
    statistics_release(index->exact);
    index->statistics = index->exact = NULL;
    __atomic_store_n(&index->is_prepared, false, __ATOMIC_RELEASE);
}

static cog_status prepare(cog_index *index, cog_error *error) {
    if (index->folder && index->manifest_file < 0)
        TRY(index_reload(index, error));
    TRY(prepare_statistics(index, error));
    TRY(index_reset_weights(index, error));
    /* Pending documents are few, a search is waiting for them, and it compares them all. */
    bool is_unmeasured = index->is_unmeasured, puts_tables_off = index->puts_tables_off;
    index->is_unmeasured = index->puts_tables_off = true;
    cog_status status = prepare_segment(index, error);
    index->is_unmeasured = is_unmeasured;
    index->puts_tables_off = puts_tables_off;
    return status == COG_OK ? renew_statistics(index, error) : status;
}

cog_status index_prepare(const cog_index *asked, cog_error *error) {
    cog_index *index = (cog_index *)asked; /* the observable state does not change */
    if (__atomic_load_n(&index->is_prepared, __ATOMIC_ACQUIRE))
        return COG_OK;
    pthread_mutex_lock(index->guard);
    cog_status status = index->is_prepared ? COG_OK : prepare(index, error);
    if (status == COG_OK)
        __atomic_store_n(&index->is_prepared, true, __ATOMIC_RELEASE);
    else
        lose_place(index);
    pthread_mutex_unlock(index->guard);
    return status;
}

/* ---- The log --------------------------------------------------------------------------------- */

cog_status log_cut_torn_end(cog_index *index, cog_report *report, cog_error *error) {
    uint64_t torn_bytes;
    if (index->log.descriptor < 0)
        return COG_OK;
    TRY(change_log_check_end(&index->log, &torn_bytes, error));
    if (torn_bytes == 0)
        return COG_OK;
    TRY(change_log_cut(&index->log, error));
    report_notice(report,
                  "%s: cut off %llu bytes at the end, the rest of a change that was interrupted "
                  "before it was confirmed",
                  index->log.path, (unsigned long long)torn_bytes);
    return COG_OK;
}

/* Starts a new log, named in the manifest. */
static cog_status start_log(cog_index *index, cog_error *error) {
    struct manifest manifest = {0};
    TRY(manifest_copy(&index->parts.manifest, &manifest, error));
    if (manifest.next_number == 0)
        manifest.next_number = 1;
    manifest.log_number = manifest.next_number++;
    cog_status status = change_log_create(index->folder, manifest.log_number, NULL, error);
    THEN(status, manifest_write(index->folder, &manifest, error));
    manifest_free(&manifest);
    return status == COG_OK ? index_reload(index, error) : status;
}

cog_status log_commit(cog_index *index, const struct buffer *payload, cog_report *report,
                      cog_error *error) {
    cog_error failure = {0};
    if (payload->size == 0)
        return COG_OK;
    if (index->log.descriptor < 0)
        TRY(start_log(index, error));
    TRY(change_log_append(&index->log, payload->data, payload->size, error));
    if (index_apply_changes(index, view_of(payload->data, payload->size), &failure) != COG_OK) {
        lose_place(index);
        report_notice(report, "the change is saved, but this handle must read it again: %s",
                      failure.message);
    }
    return COG_OK;
}

static size_t most_documents = PENDING_DOCUMENTS_MAX;

void log_set_most_documents(size_t documents) {
    most_documents = documents ? documents : PENDING_DOCUMENTS_MAX;
}

bool log_is_full(const cog_index *index) {
    size_t documents = pending_count(&index->pending);
    for (size_t part = 0; part < index->parts.manifest.count; part++)
        if (index->parts.manifest.entries[part].is_pending)
            documents += index->parts.manifest.entries[part].rows;
    return documents > most_documents || index->log.end_bytes > PENDING_LOG_BYTES_MAX;
}

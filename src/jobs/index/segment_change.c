#include "jobs/index/segment_change.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "jobs/index/index_pending.h"
#include "jobs/index/index_weights.h"
#include "run/job.h"

cog_status change_begin(cog_index *index, double wait_seconds, int *lock, cog_report *report,
                        cog_error *error) {
    const struct timespec pause = {.tv_nsec = 1000000};
    *lock = -1;
    if (!index->folder)
        return COG_OK;
    uint64_t start = clock_ns();
    cog_status status = index_lock(index->folder, lock, error);
    while (status == COG_ERR_BUSY && clock_seconds_since(start) < wait_seconds) {
        nanosleep(&pause, NULL);
        status = index_lock(index->folder, lock, error);
    }
    THEN(status, index_reload(index, error));
    THEN(status, log_heal(index, report, error));
    return status;
}

/* ---- In a folder ----------------------------------------------------------------------------- */

/* Makes the manifest valid and cleans up behind it; what cannot be deleted now will be with the
 * next change. */
static cog_status commit(cog_index *index, const struct manifest *manifest, cog_error *error) {
    cog_status status = manifest_write(index->folder, manifest, error);
    if (status == COG_OK)
        index_sweep(index->folder, manifest, NULL);
    return status;
}

/* After the commit: the change is made, whatever else fails. */
static void show(cog_index *index, cog_report *report) {
    cog_error failure = {0};
    if (index_reload(index, &failure) != COG_OK)
        report_notice(report,
                      "the change is saved, but this handle still shows the index as it was: %s; "
                      "open the index again",
                      failure.message);
}

static cog_status apply_in_folder(cog_index *index, const struct segment_change *change,
                                  cog_report *report, cog_error *error) {
    struct manifest manifest = {0};
    cog_status status = manifest_copy(&index->parts.manifest, &manifest, error);
    manifest.log_number = 0;
    THEN(status, manifest_remove_rows(&manifest, change->removed, change->removed_count, error));
    if (status == COG_OK && change->draft) {
        struct segment_parts parts = index_parts_of(&change->draft->segment);
        status = manifest_add_segment(index->folder, &manifest, &parts, error);
        if (status == COG_OK && change->count)
            manifest_put_last(&manifest, change->first, change->count);
    }
    THEN(status, commit(index, &manifest, error));
    manifest_free(&manifest);
    if (status == COG_OK)
        show(index, report);
    return status;
}

/* ---- In memory ------------------------------------------------------------------------------- */

static cog_status apply_in_memory(cog_index *index, const struct segment_change *change,
                                  cog_error *error) {
    TRY(manifest_remove_rows(&index->parts.manifest, change->removed, change->removed_count,
                             error));
    if (change->draft) {
        TRY(index_take_draft(index, change->draft, false, error));
        if (change->count)
            index_segments_put_last(&index->parts, change->first, change->count);
    }
    return index->has_documents ? index_reset_weights(index, error) : COG_OK;
}

cog_status change_apply(cog_index *index, const struct segment_change *change, cog_report *report,
                        cog_error *error) {
    return index->folder ? apply_in_folder(index, change, report, error)
                         : apply_in_memory(index, change, error);
}

/* ---- The log --------------------------------------------------------------------------------- */

/* Pending segments are the last. */
static size_t first_pending(const cog_index *index) {
    size_t part = 0;
    while (part < index->parts.manifest.count && !index->parts.manifest.entries[part].is_pending)
        part++;
    return part;
}

cog_status change_flush(cog_index *index, unsigned threads, cog_report *report, cog_error *error) {
    struct segment_draft draft = {0};
    TRY(index_prepare(index, error));
    if (!index->folder || index->log.descriptor < 0)
        return COG_OK;
    struct segment_change change = {.first = first_pending(index)};
    change.count = index->parts.manifest.count - change.first;
    cog_status status = COG_OK;
    if (change.count) {
        change.draft = &draft;
        status = segment_draft_merged(index, change.first, change.count, threads, &draft, error);
    }
    THEN(status, change_apply(index, &change, report, error));
    segment_draft_free(&draft);
    return status;
}

/* ---- Tiers ----------------------------------------------------------------------------------- */

enum { TIER_SEGMENTS = 8 }; /* of one size are merged into one of the next */

static unsigned tier_of(uint64_t rows) {
    unsigned tier = 0;
    for (; rows >= TIER_SEGMENTS; rows /= TIER_SEGMENTS)
        tier++;
    return tier;
}

/* The longest run of last segments of which enough are in no higher tier than the largest; its
 * length, 0 if there is none. In memory rows keep their numbers: nothing that was removed may go.
 */
static size_t tier_to_merge(const cog_index *index) {
    const struct manifest *manifest = &index->parts.manifest;
    size_t longest = 0;
    if (index->log.descriptor >= 0)
        return 0;
    unsigned highest = 0;
    for (size_t length = 1; length <= manifest->count; length++) {
        const struct manifest_entry *entry = &manifest->entries[manifest->count - length];
        unsigned tier = tier_of(entry->rows - entry->removed_count);
        if (!index->folder && (entry->removed_count || !index->has_documents))
            break;
        highest = tier > highest ? tier : highest;
        size_t in_tier = 0;
        for (size_t i = 1; i <= length; i++) {
            const struct manifest_entry *other = &manifest->entries[manifest->count - i];
            in_tier += tier_of(other->rows - other->removed_count) == highest;
        }
        if (in_tier >= TIER_SEGMENTS)
            longest = length;
    }
    return longest;
}

void change_merge_tiers(cog_index *index, unsigned threads, cog_report *report) {
    cog_error failure = {0};
    size_t length = index_prepare(index, &failure) == COG_OK ? tier_to_merge(index) : 0;
    if (length == 0)
        return;
    struct segment_draft draft = {0};
    struct segment_change change = {
        .draft = &draft, .first = index->parts.manifest.count - length, .count = length};
    cog_status status =
        segment_draft_merged(index, change.first, length, threads, &draft, &failure);
    THEN(status, change_apply(index, &change, report, &failure));
    if (status != COG_OK)
        report_notice(report, "the change is made, but small segments could not be merged: %s",
                      failure.message);
    segment_draft_free(&draft);
}

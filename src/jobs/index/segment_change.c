#include "jobs/index/segment_change.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "jobs/index/index_languages.h"
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
    THEN(status, log_cut_torn_end(index, report, error));
    return status;
}

/* ---- In a folder ----------------------------------------------------------------------------- */

cog_status change_commit(const cog_index *index, const struct manifest *manifest,
                         cog_error *error) {
    cog_status status = manifest_write(index->folder, manifest, error);
    if (status == COG_OK)
        index_sweep(index->folder, manifest, NULL);
    return status;
}

/* After the commit: the change is made even if something fails now. */
static void show(cog_index *index, cog_report *report) {
    cog_error failure = {0};
    if (index_reload(index, &failure) != COG_OK)
        report_notice(report,
                      "the change is saved, but this handle still shows the index as it was: %s; "
                      "open the index again",
                      failure.message);
}

void change_show_merged(cog_index *index, cog_report *report) {
    if (index_follow_merge(index, NULL) != COG_OK)
        show(index, report);
}

/* Records which statistics of this process the rows were signed with, as the file does not. */
static void name_signing(cog_index *index, size_t part, const struct segment *draft) {
    if (part >= index->parts.manifest.count || index->parts.segments[part].rows != draft->rows ||
        index->parts.segments[part].terms.signed_documents != draft->terms.signed_documents)
        return; /* the segment could not be shown */
    index->parts.segments[part].terms.signed_state = draft->terms.signed_state;
    index->parts.owners[part]->segment.terms.signed_state = draft->terms.signed_state;
}

static cog_status apply_in_folder(cog_index *index, const struct segment_change *change,
                                  cog_report *report, cog_error *error) {
    struct manifest manifest = {0};
    cog_status status = manifest_copy(&index->parts.manifest, &manifest, error);
    manifest.log_number = 0;
    THEN(status, index_record_lexicon(&manifest.settings, change->foreign, error));
    THEN(status, manifest_remove_rows(&manifest, change->removed, change->removed_count, error));
    if (status == COG_OK && change->draft) {
        struct segment_parts parts = index_parts_of(&change->draft->segment);
        status = manifest_add_segment(index->folder, &manifest, &parts, error);
        if (status == COG_OK && change->count)
            manifest_put_last(&manifest, change->first, change->count);
    }
    THEN(status, change_commit(index, &manifest, error));
    manifest_free(&manifest);
    if (status == COG_OK)
        show(index, report);
    if (status == COG_OK && change->draft)
        name_signing(index, change->count ? change->first : index->parts.manifest.count - 1,
                     &change->draft->segment);
    return status;
}

/* ---- In memory ------------------------------------------------------------------------------- */

static cog_status apply_in_memory(cog_index *index, const struct segment_change *change,
                                  cog_error *error) {
    TRY(manifest_remove_rows(&index->parts.manifest, change->removed, change->removed_count,
                             error));
    TRY(index_record_lexicon(&index->parts.manifest.settings, change->foreign, error));
    index->is_multilingual = index_has_lexicon(index);
    if (change->draft) {
        TRY(index_take_draft(index, change->draft, false, error));
        if (change->count)
            index_segments_put_last(&index->parts, change->first, change->count);
    }
    return index_reset_weights(index, error);
}

cog_status change_apply(cog_index *index, const struct segment_change *change, cog_report *report,
                        cog_error *error) {
    return index->folder ? apply_in_folder(index, change, report, error)
                         : apply_in_memory(index, change, error);
}

/* ---- The log --------------------------------------------------------------------------------- */

/* Pending segments are last. */
static size_t first_pending(const cog_index *index) {
    size_t part = 0;
    while (part < index->parts.manifest.count && !index->parts.manifest.entries[part].is_pending)
        part++;
    return part;
}

/* Whether a pending segment has everything that a stored one would have. */
static bool is_whole(const cog_index *index, size_t part) {
    return index->is_unmeasured && index->puts_tables_off &&
           index->parts.manifest.entries[part].removed_count == 0;
}

cog_status change_flush(cog_index *index, unsigned threads, cog_report *report, cog_error *error) {
    struct segment_draft draft = {0};
    TRY(index_prepare(index, error));
    if (!index->folder || index->log.descriptor < 0)
        return COG_OK;
    struct segment_change change = {.first = first_pending(index)};
    change.count = index->parts.manifest.count - change.first;
    if (change.count)
        change.draft = &draft;
    if (change.count == 1 && is_whole(index, change.first)) {
        draft.segment = index->parts.segments[change.first]; /* borrowed */
        return change_apply(index, &change, report, error);
    }
    cog_status status = COG_OK;
    if (change.count)
        status =
            segment_draft_merged(index, change.first, change.count, threads, NULL, &draft, error);
    THEN(status, change_apply(index, &change, report, error));
    segment_draft_free(&draft);
    return status;
}

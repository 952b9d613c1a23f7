#include "jobs/index/merge_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/merging.h"
#include "jobs/index/segment_change.h"
#include "run/report.h"

/* ---- Choosing -------------------------------------------------------------------------------- */

enum { TIER_SEGMENTS = 8 }; /* of one size, merged into one of the next */

/* The number of segments that are not pending; they come first. */
static size_t count_not_pending(const struct manifest *manifest) {
    size_t count = manifest->count;
    while (count && manifest->entries[count - 1].is_pending)
        count--;
    return count;
}

/* A run of consecutive segments, and what decides whether it is merged. */
struct run {
    size_t first, count;
    unsigned highest, in_highest; /* the highest tier, and its number of segments */
    uint64_t largest, rows;       /* rows that are not removed: of the largest segment, of all */
};

static void run_extend(struct run *run, const struct manifest_entry *entry) {
    uint64_t rows = entry->rows - entry->removed_count;
    unsigned tier = merging_tier(rows, TIER_SEGMENTS);
    if (tier > run->highest)
        run->in_highest = 0;
    run->highest = tier > run->highest ? tier : run->highest;
    run->in_highest += tier == run->highest;
    run->largest = rows > run->largest ? rows : run->largest;
    run->rows += rows;
    run->count++;
}

/* A run is due if it has enough segments of one size; or, with sizes changed by removals, twice as
 * many of which the largest has at most as many rows as the others together, so that it at least
 * doubles. */
static bool run_is_due(const struct run *run) {
    return run->in_highest >= TIER_SEGMENTS ||
           (run->count >= 2 * TIER_SEGMENTS && run->largest <= run->rows - run->largest);
}

/* The longest due run, the last one of equal length; no segments if none is due. In memory, rows
 * keep their numbers, so segments with removed rows are not merged. */
static struct run run_to_merge(const cog_index *index) {
    const struct manifest *manifest = &index->parts.manifest;
    size_t count = count_not_pending(manifest);
    struct run longest = {0};
    for (size_t first = 0; first < count; first++) {
        struct run run = {.first = first};
        for (size_t i = first; i < count; i++) {
            const struct manifest_entry *entry = &manifest->entries[i];
            if (!index->folder && (entry->removed_count || !index->has_documents))
                break;
            run_extend(&run, entry);
            if (run.count >= longest.count && run_is_due(&run))
                longest = run;
        }
    }
    return longest;
}

bool merge_is_due(const cog_index *index) {
    return index->folder && run_to_merge(index).count > 0;
}

cog_status merge_choose(cog_index *index, enum merge_choice choice, struct merge_job *job,
                        cog_error *error) {
    struct run run = {.count = count_not_pending(&index->parts.manifest)};
    if (choice == MERGE_TIERS)
        run = run_to_merge(index);
    job->first = run.first;
    job->count = run.count;
    if (job->count == 0)
        return COG_OK;
    cog_status status = merging_lock(index->folder, &job->lock, error);
    THEN(status, cog_index_snapshot(index, &job->state, error));
    if (status != COG_OK) {
        merging_unlock(index->folder, job->lock);
        job->lock = -1;
        job->count = 0;
    }
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

cog_status merge_write(struct merge_job *job, unsigned threads, cog_error *error) {
    struct segment_draft draft = {0};
    job->path = merging_path(job->state->folder);
    if (!job->path)
        return error_memory(error, strlen(job->state->folder), "a path");
    cog_status status =
        segment_draft_merged(job->state, job->first, job->count, threads, job->path, &draft, error);
    if (status == COG_OK) {
        struct segment_parts parts = index_parts_of(&draft.segment);
        parts.index_ids = true;
        status = segment_write(job->path, &parts, error);
    }
    segment_draft_free(&draft);
    return status;
}

/* ---- Putting it in place --------------------------------------------------------------------- */

static bool is_same(const struct manifest_entry *a, const struct manifest_entry *b) {
    return !a->is_pending && a->number == b->number && a->header_checksum == b->header_checksum;
}

/* The current position of the merged segments, SIZE_MAX if they are gone. */
static size_t find_merged(const struct manifest *now, const struct merge_job *job) {
    const struct manifest_entry *merged = job->state->parts.manifest.entries + job->first;
    for (size_t first = 0; first + job->count <= now->count; first++) {
        size_t same = 0;
        while (same < job->count && is_same(&now->entries[first + same], &merged[same]))
            same++;
        if (same == job->count)
            return first;
    }
    return SIZE_MAX;
}

/* Lists rows of the new segment that were removed after the merge read them. `base` is the number
 * of rows of earlier segments. */
static size_t note_removed(const struct manifest_entry *now, const struct manifest_entry *merged,
                           uint32_t base, uint32_t *removed) {
    size_t before = 0, count = 0;
    for (size_t i = 0; i < now->removed_count; i++) {
        uint32_t row = now->removed[i];
        while (before < merged->removed_count && merged->removed[before] < row)
            before++;
        if (before < merged->removed_count && merged->removed[before] == row)
            continue;
        removed[count++] = base + row - (uint32_t)before;
    }
    return count;
}

/* The last entry must be the new segment. */
static cog_status remove_since(struct manifest *manifest, size_t first, const struct merge_job *job,
                               cog_error *error) {
    struct manifest_entry *fresh = &manifest->entries[manifest->count - 1];
    const struct manifest_entry *merged = job->state->parts.manifest.entries + job->first;
    size_t most = 0;
    uint32_t base = 0;
    for (size_t i = 0; i < job->count; i++)
        most += manifest->entries[first + i].removed_count;
    TRY(removed_rows_take(most, &fresh->removed, error));
    for (size_t i = 0; i < job->count; i++) {
        fresh->removed_count += note_removed(&manifest->entries[first + i], &merged[i], base,
                                             fresh->removed + fresh->removed_count);
        base += (uint32_t)(merged[i].rows - merged[i].removed_count);
    }
    return COG_OK;
}

cog_status merge_commit(cog_index *index, struct merge_job *job, cog_report *report,
                        cog_error *error) {
    size_t first = find_merged(&index->parts.manifest, job);
    struct manifest manifest = {0};
    if (first == SIZE_MAX)
        return error_set(error, COG_ERR_BUSY,
                         "%s: another process has changed the segments that were merged",
                         index->folder);
    TRY(manifest_copy(&index->parts.manifest, &manifest, error));
    manifest_drop_pending(&manifest);
    cog_status status = manifest_adopt_segment(index->folder, &manifest, job->path, error);
    THEN(status, remove_since(&manifest, first, job, error));
    if (status == COG_OK)
        manifest_put_last(&manifest, first, job->count);
    THEN(status, change_commit(index, &manifest, error));
    manifest_free(&manifest);
    if (status == COG_OK)
        change_show_merged(index, report);
    return status;
}

void merge_job_free(struct merge_job *job) {
    if (job->state)
        merging_unlock(job->state->folder, job->lock);
    cog_index_close(job->state);
    free(job->path);
    *job = (struct merge_job){.lock = -1};
}

/* ---- All steps ------------------------------------------------------------------------------- */

enum { COMMIT_WAIT_SECONDS = 60 };

static cog_status choose_alone(cog_index *index, enum merge_choice choice, struct merge_job *job,
                               unsigned threads, cog_report *report, cog_error *error) {
    int lock;
    cog_status status = change_begin(index, 0, &lock, report, error);
    THEN(status, choice == MERGE_ALL ? change_flush(index, threads, report, error)
                                     : index_prepare(index, error));
    /* The log is a segment now, but this handle may have failed to show it. */
    if (status == COG_OK && choice == MERGE_ALL && index->log.descriptor >= 0)
        status = index_reload(index, error);
    THEN(status, merge_choose(index, choice, job, error));
    index_unlock(lock);
    return status;
}

static cog_status merge_in_folder(cog_index *index, enum merge_choice choice, unsigned threads,
                                  bool *merged, cog_report *report, cog_error *error) {
    struct merge_job job = {.lock = -1};
    int lock = -1;
    cog_status status = choose_alone(index, choice, &job, threads, report, error);
    *merged = job.count > 0;
    if (status == COG_OK && *merged) {
        status = merge_write(&job, threads, error);
        THEN(status, change_begin(index, COMMIT_WAIT_SECONDS, &lock, report, error));
        THEN(status, merge_commit(index, &job, report, error));
        index_unlock(lock);
    }
    merge_job_free(&job);
    return status;
}

static cog_status merge_in_memory(cog_index *index, size_t first, size_t count, unsigned threads,
                                  cog_report *report, cog_error *error) {
    struct segment_draft draft = {0};
    struct segment_change change = {.draft = &draft, .first = first, .count = count};
    cog_status status =
        segment_draft_merged(index, change.first, change.count, threads, NULL, &draft, error);
    THEN(status, change_apply(index, &change, report, error));
    segment_draft_free(&draft);
    return status;
}

void merge_tiers(cog_index *index, unsigned threads, cog_report *report) {
    cog_error failure = {0};
    cog_status status = COG_OK;
    bool merged = true;
    struct run run = run_to_merge(index);
    if (!index->folder && run.count)
        status = merge_in_memory(index, run.first, run.count, threads, report, &failure);
    while (status == COG_OK && merged && merge_is_due(index))
        status = merge_in_folder(index, MERGE_TIERS, threads, &merged, report, &failure);
    if (status != COG_OK && status != COG_ERR_BUSY)
        report_notice(report, "the change is made, but small segments could not be merged: %s",
                      failure.message);
}

cog_status merge_all(cog_index *index, unsigned threads, cog_report *report, cog_error *error) {
    bool merged;
    if (index->folder)
        return merge_in_folder(index, MERGE_ALL, threads, &merged, report, error);
    TRY(index_prepare(index, error));
    return merge_in_memory(index, 0, index->parts.manifest.count, threads, report, error);
}

/* Merges segments of a live index, in a background thread or on request. Changes wait while
 * segments are chosen and replaced, but not while the new one is written. */
#include <stdlib.h>

#include "base/arguments.h"
#include "jobs/index/merge_job.h"
#include "jobs/index/segment_change.h"
#include "jobs/live/live.h"
#include "plan/method_choice.h"
#include "run/job.h"

enum { LOCK_WAIT_SECONDS = 60 };

/* Leads, with the lock of the folder and its current state; end_step ends it. */
static cog_status begin_step(cog_live *live, int *lock, cog_error *error) {
    live_lead(live);
    cog_status status = change_begin(live->index, LOCK_WAIT_SECONDS, lock, NULL, error);
    return status == COG_OK ? live_note_foreign(live, error) : status;
}

static void end_step(cog_live *live, int lock) {
    live_mark_noted(live);
    index_unlock(lock);
    live_stop_leading(live);
}

static cog_status choose(cog_live *live, enum merge_choice choice, unsigned threads,
                         struct merge_job *merge, cog_report *report, cog_error *error) {
    int lock;
    cog_status status = begin_step(live, &lock, error);
    if (status == COG_OK && choice == MERGE_ALL) {
        status = change_flush(live->index, threads, report, error);
        live->generation = live->index->generation;
    }
    THEN(status, merge_choose(live->index, choice, merge, error));
    end_step(live, lock);
    return status;
}

static cog_status put_in_place(cog_live *live, struct merge_job *merge, cog_report *report,
                               cog_error *error) {
    int lock;
    cog_status status = begin_step(live, &lock, error);
    THEN(status, merge_commit(live->index, merge, report, error));
    live->generation = live->index->generation;
    THEN(status, live_show(live, error));
    end_step(live, lock);
    return status;
}

/* Whether the recall of the new segment is measured later. Small tiers are soon merged again, and
 * measuring takes as long as merging. An index for searches within a radius needs no measures;
 * there a search for the nearest compares these rows completely. */
static bool measures_later(const struct merge_job *merge) {
    enum { FEW_ROWS = 1 << 16 };
    const char *name = "auto";
    uint64_t rows = 0;
    settings_get_text(&merge->state->parts.manifest.settings, "index method", &name);
    const struct search_method *method = method_of(method_named(name));
    for (size_t i = 0; i < merge->count; i++)
        rows += merge->state->parts.manifest.entries[merge->first + i].rows;
    return rows < FEW_ROWS && method && method->is_for_radius;
}

/* Performs one merge; *merged is false if there was nothing to do. */
static cog_status merge_once(cog_live *live, enum merge_choice choice, unsigned threads,
                             bool *merged, cog_report *report, cog_error *error) {
    struct merge_job merge = {.lock = -1};
    cog_status status = choose(live, choice, threads, &merge, report, error);
    *merged = merge.count > 0;
    if (status == COG_OK && *merged) {
        merge.state->is_unmeasured = choice == MERGE_TIERS && measures_later(&merge);
        status = merge_write(&merge, threads, error);
        THEN(status, put_in_place(live, &merge, report, error));
    }
    merge_job_free(&merge);
    return status;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Merges while segments are due. Failed merges are retried when the next segment is added. */
static void merge_due(cog_live *live, const cog_cancel *cancel) {
    const cog_run_options run = {.threads = 1, .cancel = cancel};
    struct job job;
    bool merged = true;
    job_begin(&job, &run, NULL);
    while (merged && !cog_cancel_is_set(cancel) &&
           merge_once(live, MERGE_TIERS, 1, &merged, NULL, NULL) == COG_OK)
        ;
    job_end(&job);
}

static void *merge_in_background(void *context) {
    cog_live *live = context;
    pthread_mutex_lock(&live->lock);
    for (;;) {
        while (!live->is_closing && (!live->wants_merge || live->compactions))
            pthread_cond_wait(&live->merge_call, &live->lock);
        if (live->is_closing)
            break;
        cog_cancel *cancel = NULL;
        live->wants_merge = false;
        if (cog_cancel_create(&cancel, NULL) != COG_OK)
            continue;
        live->cancel = cancel;
        pthread_mutex_unlock(&live->lock);
        merge_due(live, cancel);
        pthread_mutex_lock(&live->lock);
        live->cancel = NULL;
        cog_cancel_free(cancel);
        pthread_cond_broadcast(&live->turn);
    }
    pthread_mutex_unlock(&live->lock);
    return NULL;
}

void live_want_merge(cog_live *live) {
    if (!merge_is_due(live->index))
        return;
    pthread_mutex_lock(&live->lock);
    live->wants_merge = true;
    if (!live->has_merger)
        live->has_merger = pthread_create(&live->merger, NULL, merge_in_background, live) == 0;
    if (!live->has_merger)
        live->wants_merge = false; /* the next segment requests it again */
    pthread_cond_signal(&live->merge_call);
    pthread_mutex_unlock(&live->lock);
}

void live_end_merges(cog_live *live) {
    pthread_mutex_lock(&live->lock);
    live->is_closing = true;
    if (live->cancel)
        cog_cancel_set(live->cancel);
    pthread_cond_signal(&live->merge_call);
    pthread_mutex_unlock(&live->lock);
    if (live->has_merger)
        pthread_join(live->merger, NULL);
}

cog_status cog_live_settle(cog_live *live, cog_error *error) {
    TRY(check_given(live, "live", error));
    pthread_mutex_lock(&live->lock);
    while (live->cancel || live->wants_merge)
        pthread_cond_wait(&live->turn, &live->lock);
    pthread_mutex_unlock(&live->lock);
    return COG_OK;
}

/* ---- Compacting ------------------------------------------------------------------------------ */

/* Compactions run one at a time. A background merge would be useless: it is ended first, and none
 * starts. */
static void begin_compaction(cog_live *live) {
    pthread_mutex_lock(&live->lock);
    live->compactions++;
    if (live->cancel)
        cog_cancel_set(live->cancel);
    while (live->cancel || live->is_compacting)
        pthread_cond_wait(&live->turn, &live->lock);
    live->is_compacting = true;
    pthread_mutex_unlock(&live->lock);
}

static void end_compaction(cog_live *live) {
    pthread_mutex_lock(&live->lock);
    live->compactions--;
    live->is_compacting = false;
    pthread_cond_broadcast(&live->turn);
    pthread_cond_signal(&live->merge_call);
    pthread_mutex_unlock(&live->lock);
}

static cog_status compact_in_memory(cog_live *live, const cog_run_options *run, cog_report *report,
                                    cog_error *error) {
    live_lead(live);
    cog_status status = cog_index_compact(live->index, run, report, error);
    THEN(status, live_show(live, error));
    live_stop_leading(live);
    return status;
}

cog_status cog_live_compact(cog_live *live, const cog_run_options *run, cog_report *report,
                            cog_error *error) {
    struct job job;
    bool merged;
    TRY(check_given(live, "live", error));
    if (live->is_in_memory)
        return compact_in_memory(live, run, report, error);
    job_begin(&job, run, report);
    begin_compaction(live);
    cog_status status = merge_once(live, MERGE_ALL, job.threads, &merged, report, error);
    end_compaction(live);
    job_end(&job);
    return status;
}

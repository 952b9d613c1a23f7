/* A merge of segments of an index, in three steps, of which only the first and the last need the
 * lock of the folder: choosing segments, writing one of all their rows, putting it in their place.
 * Rows that are removed meanwhile are removed from the new segment when it is put in place;
 * segments that are added stay behind it. What a merge reads is a snapshot, so changes do not
 * disturb it.
 *
 * Tiers: segments that follow each other are merged as soon as eight are of about one size, each
 * size being eight times the one before. So n additions leave O(log n) segments, and a row is
 * written O(log n) times.
 *
 * Memory: the terms of the new segment, the tables of its method, and some thousand documents. Ids,
 * signatures, vectors, sets and posting lists of sets pass through scratch files in the folder. */
#pragma once

#include "jobs/index/index_job.h"

/* Zero-initialise with a lock of -1; merge_job_free releases. */
struct merge_job {
    cog_index *state;    /* with the segments that are merged */
    size_t first, count; /* of these */
    int lock;            /* of the folder's one merge */
    char *path;          /* of the new segment */
};

enum merge_choice { MERGE_TIERS, MERGE_ALL };

/* Whether segments of the index, which is in a folder, should be merged. */
bool merge_is_due(const cog_index *index);
/* With the lock of the folder, of a handle that shows its present state. Nothing is chosen if
 * job->count is 0 afterwards. COG_ERR_BUSY: another merge is under way. */
cog_status merge_choose(cog_index *index, enum merge_choice choice, struct merge_job *job,
                        cog_error *error);
/* Takes no lock. COG_ERR_CANCELLED if its job is cancelled. */
cog_status merge_write(struct merge_job *job, unsigned threads, cog_error *error);
/* With the lock again. COG_OK: the change is durable. COG_ERR_BUSY: another process has changed
 * these segments, and nothing was done. If the handle cannot show it, the report has a notice. */
cog_status merge_commit(cog_index *index, struct merge_job *job, cog_report *report,
                        cog_error *error);
/* Deletes what is not in place. */
void merge_job_free(struct merge_job *job);

/* All steps, with their locks, as often as segments are due; the caller has no lock. An index in
 * memory is merged at once. Nothing is lost if it fails: the report has a notice. */
void merge_tiers(cog_index *index, unsigned threads, cog_report *report);
/* All segments into one. */
cog_status merge_all(cog_index *index, unsigned threads, cog_report *report, cog_error *error);

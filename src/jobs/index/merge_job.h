/* A merge of segments of an index in three steps: choosing segments, writing one segment of all
 * their rows, and replacing them by it. Only the first and the last step need the lock of the
 * folder. Rows removed in the meantime are removed from the new segment when it is put in place;
 * segments added in the meantime stay after it. A merge reads a snapshot, so changes do not affect
 * it.
 *
 * Tiers: consecutive segments are merged as soon as eight are of about equal size, each size being
 * eight times the previous one. So n additions leave O(log n) segments, and a row is written O(log
 * n) times.
 *
 * Memory: the terms of the new segment, the tables of its method, and some thousand documents. Ids,
 * signatures, vectors, sets and posting lists of sets are in scratch files in the folder. */
#pragma once

#include "jobs/index/index_job.h"

/* Zero-initialise with a lock of -1; merge_job_free releases. */
struct merge_job {
    cog_index *state;    /* contains the merged segments */
    size_t first, count; /* of the merged segments */
    int lock;            /* of the folder's single running merge */
    char *path;          /* of the new segment */
};

enum merge_choice { MERGE_TIERS, MERGE_ALL };

/* Whether segments of the index, which is in a folder, should be merged. */
bool merge_is_due(const cog_index *index);
/* Requires the lock of the folder and a handle at its current state. If nothing was chosen,
 * job->count is 0. COG_ERR_BUSY if another merge is running. */
cog_status merge_choose(cog_index *index, enum merge_choice choice, struct merge_job *job,
                        cog_error *error);
/* Needs no lock. COG_ERR_CANCELLED if its job is cancelled. */
cog_status merge_write(struct merge_job *job, unsigned threads, cog_error *error);
/* Requires the lock again. COG_OK: the change is durable. COG_ERR_BUSY: another process has changed
 * these segments, and nothing was done. If the handle cannot show the change, the report has a
 * notice. */
cog_status merge_commit(cog_index *index, struct merge_job *job, cog_report *report,
                        cog_error *error);
/* Deletes the new segment unless it is in place. */
void merge_job_free(struct merge_job *job);

/* All steps with their locks, repeated while segments are due; the caller must not hold a lock. An
 * index in memory is merged immediately. A failure loses nothing: the report has a notice. */
void merge_tiers(cog_index *index, unsigned threads, cog_report *report);
/* Merges all segments into one. */
cog_status merge_all(cog_index *index, unsigned threads, cog_report *report, cog_error *error);

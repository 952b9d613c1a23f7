/* Changes of the segments of an index in one step: rows are removed, and a new segment is added or
 * replaces others. In a folder a change is based on the current state, under a lock, and the
 * manifest is written last; in memory it is made immediately. */
#pragma once

#include "collection/foreign_documents.h"
#include "jobs/index/index_job.h"

/* Locks the folder, waiting up to `wait_seconds` for another process, and opens its current state.
 * *lock is -1 in memory and after an error; index_unlock ends the change. */
cog_status change_begin(cog_index *index, double wait_seconds, int *lock, cog_report *report,
                        cog_error *error);
/* Call after change_begin: makes a segment of the documents of the log and ends the log. Changes of
 * segments require it; it prepares the index. */
cog_status change_flush(cog_index *index, unsigned threads, cog_report *report, cog_error *error);

struct segment_change {
    struct segment_draft *draft; /* NULL: none */
    size_t first, count;         /* segments to replace; if count is 0, the draft is appended */
    const uint64_t *removed;     /* rows of the index to remove, strictly ascending */
    size_t removed_count;
    const struct foreign_documents *foreign; /* its lexicon is recorded; or NULL */
};
/* Call after change_flush. COG_OK: the change is durable. The draft is empty afterwards if the
 * index is in memory. If the handle cannot show the new state, the report has a notice. */
cog_status change_apply(cog_index *index, const struct segment_change *change, cog_report *report,
                        cog_error *error);

/* Requires the lock: makes the manifest valid and deletes unused files; what cannot be deleted now
 * is deleted with the next change. */
cog_status change_commit(const cog_index *index, const struct manifest *manifest, cog_error *error);
/* Call after the commit of a merge, which leaves the log unchanged: the handle shows the new
 * segment. If it cannot, the report has a notice. */
void change_show_merged(cog_index *index, cog_report *report);

/* Changes of the segments of an index, in one step: rows go, and a new segment is added or takes
 * the place of others. In a folder a change works on the state of that moment, under a lock, and
 * the manifest is written last; in memory it is made at once. */
#pragma once

#include "collection/foreign_documents.h"
#include "jobs/index/index_job.h"

/* Locks the folder, waiting up to `wait_seconds` for another process, and opens its present state.
 * *lock is -1 in memory and after an error; index_unlock ends the change. */
cog_status change_begin(cog_index *index, double wait_seconds, int *lock, cog_report *report,
                        cog_error *error);
/* Between these: the documents of the log become a segment, and the log ends. Changes of segments
 * need it; it prepares the index. */
cog_status change_flush(cog_index *index, unsigned threads, cog_report *report, cog_error *error);

struct segment_change {
    struct segment_draft *draft; /* NULL: none */
    size_t first, count;         /* segments that it takes the place of; 0 of them: it comes last */
    const uint64_t *removed;     /* rows of the index that go, strictly rising */
    size_t removed_count;
    const struct foreign_documents *foreign; /* their lexicon is recorded; or NULL */
};
/* After change_flush. COG_OK: the change is durable. The draft is empty afterwards if the index is
 * in memory. If the handle cannot show the new state, the report has a notice. */
cog_status change_apply(cog_index *index, const struct segment_change *change, cog_report *report,
                        cog_error *error);

/* With the lock: makes the manifest valid and cleans up behind it; what cannot be deleted now will
 * be with the next change. */
cog_status change_commit(const cog_index *index, const struct manifest *manifest, cog_error *error);
/* After the commit of a merge, which leaves the log as it is: the handle shows the new segment. If
 * it cannot, the report has a notice. */
void change_show_merged(cog_index *index, cog_report *report);

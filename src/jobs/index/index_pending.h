/* Changes of an index by its log: documents and removals that are durable once a frame of the log
 * is written, and become a segment later.
 *
 * A commit appends a payload of changes (index/changes.h) to the log of the folder and applies it
 * to the handle. Reading applies the frames of others in the same way, so a state depends only on
 * the manifest and the frames. */
#pragma once

#include "index/changes.h"
#include "jobs/index/index_job.h"

/* Above these limits, documents of the log become a segment. */
enum {
    PENDING_DOCUMENTS_MAX = 4096,
    PENDING_LOG_BYTES_MAX = 16 << 20,
};

void pending_free(struct index_pending *pending);
/* The number of documents that are not removed. */
size_t pending_count(const struct index_pending *pending);
/* Whether a document with this id is pending. */
bool pending_has(const struct index_pending *pending, struct bytes_view id);

/* Applies the frames of the log that the handle has not read yet. */
cog_status index_read_log(cog_index *index, cog_error *error);
/* Applies a payload that is already in the log. */
cog_status index_apply_changes(cog_index *index, struct bytes_view payload, cog_error *error);

/* Requires the lock of the folder and a handle at its current state. Repairs the end of the log;
 * the report has a notice if something was cut off. */
cog_status log_cut_torn_end(cog_index *index, cog_report *report, cog_error *error);
/* Makes the changes durable, in a new log if the index has none, and applies them. If the handle
 * cannot apply them, the report has a notice. */
cog_status log_commit(cog_index *index, const struct buffer *payload, cog_report *report,
                      cog_error *error);
/* Whether the log is so long that its documents should become a segment. */
bool log_is_full(const cog_index *index);
/* For tests that need segments sooner; 0: PENDING_DOCUMENTS_MAX. Call before any index is opened.
 */
void log_set_most_documents(size_t documents);

/* Marks: what was decided of a document, added to its JSON record as one more field, an object:
 * {"cluster": 3, "kept": false, "twin": "id", "similarity": 0.91, "reason": "near"}; documents in
 * no cluster have {"kept": true}. Nothing is removed, so that other programs can decide. */
#pragma once

#include "jobs/dedup/duplicates.h"

struct record_marks;

/* field and duplicates are borrowed; members as duplicates_clusters gives them. */
cog_status record_marks_create(const char *field, const struct duplicates *duplicates,
                               const cog_cluster_member *members, size_t member_count,
                               struct record_marks **marks, cog_error *error);
/* Accepts NULL. */
void record_marks_free(struct record_marks *marks);

/* Refuses inputs whose records are not JSON objects. */
cog_status record_marks_check(const char *field, const cog_documents *documents, cog_error *error);

/* Appends a record with its mark. Nothing for a record that is no document. Threads may call at
 * once. */
cog_status record_marks_append(const struct record_marks *marks, uint64_t record,
                               struct bytes_view raw, struct buffer *bytes, cog_error *error);
